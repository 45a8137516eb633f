package io.github.distributedpermit.core.engine;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.Limit;
import io.github.distributedpermit.core.LogSafe;
import io.github.distributedpermit.spi.PermitProperty;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What annotations and code have declared, as far as it matters when settings change: for each name, one declaration for
 * each limit, number of permits and outer permit, and for each literal key one for each name. Not thread-safe.
 */
final class Declarations {

    private final Map<String, Map<Statement, PermitDefinition>> byName = new HashMap<>();
    private final Map<String, Map<String, PermitDefinition>> byKey = new HashMap<>();

    void add(PermitDefinition declared) {
        byName.computeIfAbsent(declared.name(), name -> new LinkedHashMap<>())
                .putIfAbsent(new Statement(declared.limit(), declared.permits(), declared.within()), declared);
        if (declared.key() != null) {
            byKey.computeIfAbsent(declared.key(), key -> new LinkedHashMap<>()).putIfAbsent(declared.name(), declared);
        }
    }

    /** Whether the code declares the name. */
    boolean contain(String name) {
        return byName.containsKey(name);
    }

    /** The names that the code declares. */
    Set<String> names() {
        return Set.copyOf(byName.keySet());
    }

    /** The declaration that represents the name: the first one, with a limit and an outer permit if any of them has one. */
    PermitDefinition of(String name) {
        Collection<PermitDefinition> all =
                Objects.requireNonNull(byName.get(name)).values();
        PermitDefinition first = all.iterator().next();
        Integer limit = first(all, PermitDefinition::limit);
        String within = first(all, PermitDefinition::within);
        return Objects.equals(limit, first.limit()) && Objects.equals(within, first.within())
                ? first
                : first.toBuilder().limit(limit).within(within).build();
    }

    private static <T> @Nullable T first(
            Collection<PermitDefinition> all, Function<PermitDefinition, @Nullable T> value) {
        for (PermitDefinition each : all) {
            T found = value.apply(each);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /**
     * Refuses a declaration that contradicts the earlier ones under these rules.
     *
     * @throws IllegalArgumentException if it does
     */
    void check(PermitDefinition declared, Rules rules) {
        PermitDefinition effective = rules.effective(declared);
        Map<Statement, PermitDefinition> sameName = byName.getOrDefault(declared.name(), Map.of());
        for (PermitDefinition other : sameName.values()) {
            PermitDefinition known = withLimit(other, rules, effective);
            checkSameLimit(known, effective, "name '" + declared.name() + "'");
            checkSameOuter(known, effective);
        }
        if (declared.key() != null) {
            for (PermitDefinition other :
                    byKey.getOrDefault(declared.key(), Map.of()).values()) {
                checkSameLimit(
                        withLimit(other, rules, effective), effective, "key '" + LogSafe.escape(declared.key()) + "'");
            }
        }
    }

    /** Checks all declarations under other rules. */
    void checkAll(Rules rules) {
        byName.keySet().forEach(name -> rules.effective(of(name)));
        byName.values().forEach(all -> all.values().forEach(each -> checkAgain(each, rules)));
    }

    private void checkAgain(PermitDefinition declared, Rules rules) {
        PermitDefinition complete = declared.limit() != null ? declared : withLimitOf(declared);
        check(complete, rules);
    }

    /** A declaration without a limit has that of its name. */
    private PermitDefinition withLimitOf(PermitDefinition declared) {
        return declared.toBuilder().limit(of(declared.name()).limit()).build();
    }

    private PermitDefinition withLimit(PermitDefinition other, Rules rules, PermitDefinition effective) {
        PermitDefinition complete = other.limit() == null ? withLimitOf(other) : other;
        boolean open =
                complete.limit() == null && rules.ofDeclared(other.name()).limit() == null;
        return rules.effective(
                open ? complete.toBuilder().limit(effective.limit()).build() : complete);
    }

    private static void checkSameLimit(PermitDefinition one, PermitDefinition other, String what) {
        if (!Objects.equals(one.limit(), other.limit())) {
            throw new IllegalArgumentException("%s gives %s a limit of %s, but %s gives it %s; use one limit, or set %s"
                    .formatted(
                            other.origin(),
                            what,
                            shown(other.limit()),
                            one.origin(),
                            shown(one.limit()),
                            PermitProperty.of(other.name(), "limit")));
        }
    }

    private static void checkSameOuter(PermitDefinition one, PermitDefinition other) {
        if (one.within() != null && other.within() != null && !one.within().equals(other.within())) {
            throw new IllegalArgumentException(
                    "%s says that permit '%s' lies within '%s', but %s says '%s'; use one of them, or set %s"
                            .formatted(
                                    other.origin(),
                                    one.name(),
                                    other.within(),
                                    one.origin(),
                                    one.within(),
                                    PermitProperty.of(one.name(), "within")));
        }
    }

    private static String shown(@Nullable Integer limit) {
        return limit == null
                ? "null"
                : limit < PermitDefinition.PER_CALL ? String.valueOf(limit) : "'" + Limit.of(limit) + "'";
    }

    private record Statement(
            @Nullable Integer limit, int permits, @Nullable String within) {}
}
