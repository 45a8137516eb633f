package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.KeyRegistry;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the private state of an engine. */
final class Peek {

    private static final Field MEMBERSHIP = field(PermitEngine.class, "membership");
    private static final Field REGISTRY = field(MEMBERSHIP.getType(), "registry");
    private static final Field QUEUES = field(KeyRegistry.class, "queues");
    private static final Field STATE = field(KeyQueue.class, "state");
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

    static KeyRegistry registry(PermitEngine engine) {
        return (KeyRegistry) get(REGISTRY, get(MEMBERSHIP, engine));
    }

    @Nullable
    static KeyQueue queue(PermitEngine engine, String key) {
        return (KeyQueue) ((Map<?, ?>) get(QUEUES, registry(engine))).get(key);
    }

    static @Nullable KeyQueueState state(PermitEngine engine, String key) {
        KeyQueue queue = queue(engine, key);
        return queue == null ? null : (KeyQueueState) get(STATE, queue);
    }

    /** The claims that the queue remembers, oldest first. */
    static List<SentClaim> sent(KeyQueueState state) {
        List<SentClaim> claims = new ArrayList<>();
        for (SentClaim claim = state.plan.sent.oldest(); claim != null; claim = claim.next) {
            claims.add(claim);
        }
        return claims;
    }

    static PermitName permit(PermitEngine engine, String name) {
        // the catalog defines a name that only the settings know when it is first asked for it
        Object catalog = get(CATALOG, engine);
        try {
            Method method = catalog.getClass().getDeclaredMethod("permit", String.class);
            method.setAccessible(true);
            return (PermitName) method.invoke(catalog, name);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
