package io.github.distributedpermit.core;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Looks into an engine, which shows nobody its state. */
final class Peek {

    private static final Field LINES = field(PermitEngine.class, "lines");
    private static final Field LINES_BY_KEY = field(Lines.class, "lines");
    private static final Field STATE = field(KeyLine.class, "state");
    private static final Field CATALOG = field(PermitEngine.class, "catalog");

    private Peek() {}

    private static Field field(Class<?> type, String name) {
        try {
            Field field = type.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException e) {
            throw new AssertionError(e);
        }
    }

    private static Object get(Field field, Object owner) {
        try {
            return field.get(owner);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    static Lines lines(PermitEngine engine) {
        return (Lines) get(LINES, engine);
    }

    @Nullable
    static KeyLine line(PermitEngine engine, String key) {
        return (KeyLine) ((Map<?, ?>) get(LINES_BY_KEY, lines(engine))).get(key);
    }

    static @Nullable LineState state(PermitEngine engine, String key) {
        KeyLine line = line(engine, key);
        return line == null ? null : (LineState) get(STATE, line);
    }

    /** The claims the line remembers, oldest first. */
    static List<SentClaim> sent(LineState state) {
        List<SentClaim> claims = new ArrayList<>();
        for (SentClaim claim = state.plan.sent.oldest(); claim != null; claim = claim.next) {
            claims.add(claim);
        }
        return claims;
    }

    static NameUse use(PermitEngine engine, String name) {
        return ((Catalog) get(CATALOG, engine)).use(name);
    }
}
