package io.github.distributedpermit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Completes what a call asks for with the permits that these lie within, and puts all of them into the order in which they are taken.
 * The order depends on names and keys only, so that it is the same in all methods, processes and code, and no two such calls wait for
 * each other:
 *
 * <ol>
 *   <li>Permits with many keys precede those with one. Such a key usually divides the calls of a shared one, and a call that waits for
 *       its part must not hold permits that all others need. A permit with one key that lies within one with many counts as one with
 *       many; the definition of the outer one decides that, since its key in this call may be another one in the next.
 *   <li>Of both kinds, a permit precedes the one that it lies within.
 *   <li>What is left is in the order of the keys, and not of names, since one key may have several names.
 * </ol>
 *
 * For one call.
 */
final class TakingOrder {

    private static final Comparator<Step> ORDER = Comparator.<Step, Boolean>comparing(step -> step.rank.hasOneKey)
            .thenComparing(step -> step.rank.depth, Comparator.reverseOrder())
            .thenComparing(step -> step.request.key());

    private final Function<String, NamedPermits> permits;
    private final Collection<PermitRequest> asked;
    private final Map<String, Step> added = new LinkedHashMap<>();

    private TakingOrder(Function<String, NamedPermits> permits, Collection<PermitRequest> asked) {
        this.permits = permits;
        this.asked = asked;
    }

    /**
     * One step for each key, in the order in which the call takes them.
     *
     * @param permits the permits of a name
     */
    static List<Step> of(Function<String, NamedPermits> permits, Collection<PermitRequest> asked) {
        if (asked.size() == 1) { // as most calls have, whose permits lie within no others
            PermitRequest only = asked.iterator().next();
            NamedPermits named = permits.apply(nameOf(only));
            if (named.within() == null) {
                return List.of(new Step(named, only, null, Rank.ALONE, null));
            }
        }
        TakingOrder order = new TakingOrder(permits, asked);
        TreeMap<String, Step> byKey = new TreeMap<>();
        for (PermitRequest request : asked) {
            byKey.merge(request.key(), order.step(request, null, null), Step::and);
        }
        order.added.values().forEach(step -> byKey.merge(step.request.key(), step, Step::and));
        List<Step> steps = new ArrayList<>(byKey.values());
        steps.sort(ORDER);
        return steps;
    }

    static String nameOf(PermitRequest request) {
        return Objects.requireNonNullElse(request.name(), request.key());
    }

    /**
     * The step of a request, once those of the permits that it lies within are noted.
     *
     * @param definition of a permit that the call has not asked for itself
     * @param inner the names within, {@code null} if there are none
     */
    private Step step(PermitRequest request, @Nullable PermitDefinition definition, @Nullable Inner inner) {
        NamedPermits named = permits.apply(nameOf(request));
        boolean hasOneKey = isOnlyKey(request.key(), named.name());
        PermitDefinition outer = named.within();
        if (outer == null) {
            NamedPermits level = inner == null ? named : named.alone(inner.name);
            return new Step(level, request, definition, Rank.of(hasOneKey, null), null);
        }
        Inner chain = new Inner(named.name(), inner);
        chain.check(outer.name());
        String usualKey = outer.usualKey();
        Rank around =
                Rank.of(usualKey != null && isOnlyKey(usualKey, outer.name()), outer(outer, request, chain).around);
        NamedPermits level = named.alone(inner == null ? null : inner.name);
        return new Step(level, request, definition, Rank.of(hasOneKey, around), around);
    }

    private Step outer(PermitDefinition definition, PermitRequest request, Inner chain) {
        for (PermitRequest other : asked) {
            if (nameOf(other).equals(definition.name())) {
                return step(other, null, chain);
            }
        }
        Step before = added.get(definition.name());
        String key = before == null ? definition.usualKey() : before.request.key();
        if (key == null) {
            throw new IllegalArgumentException(
                    "Permit '%s' lies within '%s', whose key is made for each call; ask for a key of '%s' too (%s)"
                            .formatted(
                                    chain.name, definition.name(), definition.name(), chain.show(definition.name())));
        }
        PermitRequest whole = around(before == null ? definition.request(key).withPermits(1) : before.request, request);
        Step step = step(whole, definition, chain);
        added.put(definition.name(), step);
        return step;
    }

    /** The request for an outer permit that serves this inner one too: a call counts once there, also with several inner permits. */
    private static PermitRequest around(PermitRequest outer, PermitRequest inner) {
        PermitRequest.Builder both = outer.toBuilder().permits(Math.max(outer.permits(), inner.permits()));
        both.headStart(PermitRequest.longer(outer.headStart(), inner.headStart()));
        if (outer.fairBy() == null) {
            both.fairBy(inner.fairBy()).fairWeight(inner.fairWeight());
        }
        if (inner.reentrant()) {
            both.reentrant();
        }
        both.calledBy(inner.calledBy());
        Duration shortest = outer.timeout();
        if (shortest == null || (inner.timeout() != null && inner.timeout().compareTo(shortest) < 0)) {
            shortest = inner.timeout();
        }
        both.timeout(shortest);
        return outer.block() && inner.block()
                ? both.build()
                : both.withoutWaiting().build();
    }

    /**
     * Whether the key is the only one of its permit, as far as the two texts show: the name itself, or what an annotation without a key
     * has for a key, which is the full form of its name.
     */
    private static boolean isOnlyKey(String key, String name) {
        if (key.equals(name)) {
            return true;
        }
        int parameters = key.indexOf('(');
        int begin = (parameters < 0 ? key.length() : parameters) - name.length();
        return begin > 0
                && key.charAt(begin - 1) == '.'
                && (key.indexOf('$') < 0 ? key : key.replace('$', '.')).regionMatches(begin, name, 0, name.length());
    }

    /** The names of a chain, from the present one inwards. */
    private record Inner(String name, @Nullable Inner inner) {

        /** Refuses to go on to a name that is in the chain already, or to one too many. */
        void check(String outer) {
            int names = 1;
            for (Inner each = this; each != null; each = each.inner) {
                names++;
                if (each.name.equals(outer)) {
                    throw new IllegalArgumentException("Permits lie within each other in a circle: " + show(outer));
                }
            }
            if (names > PermitDefinition.LONGEST_CHAIN) {
                throw new IllegalArgumentException("More than %d permits lie within each other: %s"
                        .formatted(PermitDefinition.LONGEST_CHAIN, show(outer)));
            }
        }

        String show(String outer) {
            StringBuilder chain = new StringBuilder(outer);
            for (Inner each = this; each != null; each = each.inner) {
                chain.insert(0, each.name + " within ");
            }
            return chain.toString();
        }
    }

    /**
     * Where a permit stands among those of a call.
     *
     * @param depth how many permits of the same kind it lies within
     */
    private record Rank(boolean hasOneKey, int depth) {

        static final Rank ALONE = new Rank(false, 0);

        static Rank of(boolean hasOneKey, @Nullable Rank outer) {
            if (outer == null) {
                return new Rank(hasOneKey, 0);
            }
            boolean bothHaveOne = hasOneKey && outer.hasOneKey;
            return new Rank(bothHaveOne, bothHaveOne == outer.hasOneKey ? outer.depth + 1 : 0);
        }
    }

    /**
     * One permit to take.
     *
     * @param added the definition of the permit if the call did not ask for it itself
     * @param around the rank of the permit that it lies within, with the key of its definition; {@code null} if there is none
     */
    record Step(
            NamedPermits permits,
            PermitRequest request,
            @Nullable PermitDefinition added,
            Rank rank,
            @Nullable Rank around) {

        /** Both requests have the same key. */
        private Step and(Step other) {
            return new Step(permits, request.and(other.request), added == null ? other.added : added, rank, around);
        }
    }
}
