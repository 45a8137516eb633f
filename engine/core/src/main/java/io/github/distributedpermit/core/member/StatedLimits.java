package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.LogSafe;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitProperty;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reports that instances state different limits for a key, as far as keys are read for meters or operators: one line for each permit, and
 * another one for each limit that joins. Thread-safe.
 */
final class StatedLimits {

    private static final Logger LOG = System.getLogger(StatedLimits.class.getName());

    /** Instances that neither hold nor wait at a moment state no limit, so that its absence shows no end for a while. */
    private static final long REMEMBERED = TimeUnit.MINUTES.toNanos(10);

    /** Names may be made by users. */
    private static final int MOST_NAMES = 1_000;

    /** Calls of other instances may state limits of their own: of more than this, no further line follows. */
    private static final int MOST_LIMITS = 5;

    /** Of one limit, in a line. */
    private static final int MOST_MEMBERS = 5;

    private final Map<String, Reported> reported = new HashMap<>();
    private final Member self;
    private final BiConsumer<String, String> changes;

    /** @param changes is notified of each line: the key, and the limits with the members that state them */
    StatedLimits(Member self, BiConsumer<String, String> changes) {
        this.self = self;
        this.changes = changes;
    }

    private record Reported(Set<Integer> limits, long seenAt) {}

    /**
     * A key was read.
     *
     * @param name of the permit, whose calls do not state limits of their own
     * @param own the limit that this instance states when it claims: the store has it only while calls of it hold or wait
     */
    void note(String name, KeyState key, int own, long now) {
        Map<Integer, Set<String>> stated = new TreeMap<>();
        key.members()
                .forEach(member -> stated.computeIfAbsent(member.limit(), first -> new LinkedHashSet<>())
                        .add(
                                member.member().equals(self.id())
                                        ? self.name()
                                        : member.name().orElse(member.member())));
        if (!stated.isEmpty()
                && key.members().stream().noneMatch(member -> member.member().equals(self.id()))) {
            stated.computeIfAbsent(own, first -> new LinkedHashSet<>()).add(self.name());
        }
        if (stated.size() < 2 || key.override().isPresent() || !isNews(name, stated.keySet(), now)) {
            return;
        }
        String limits = stated.entrySet().stream()
                .map(each -> each.getKey() + " by " + members(each.getValue()))
                .collect(Collectors.joining("; "));
        LOG.log(
                Level.WARNING,
                "Instances state different limits for permit ''{0}'', key ''{1}'': {2}. Each gets permits up to its own one. A rolling"
                        + " update that changes the limit ends that by itself; otherwise give all instances the same {3} and restart"
                        + " those that have another one, or set a limit for all of them by the endpoint ''permits'' until then.",
                LogSafe.escape(name),
                LogSafe.escape(key.key()),
                limits,
                LogSafe.escape(PermitProperty.of(name, "limit")));
        changes.accept(key.key(), limits);
    }

    private synchronized boolean isNews(String name, Set<Integer> limits, long now) {
        if (reported.size() >= MOST_NAMES && !reported.containsKey(name)) {
            reported.values().removeIf(each -> now - each.seenAt > REMEMBERED);
            if (reported.size() >= MOST_NAMES) {
                return false;
            }
        }
        Reported last = reported.get(name);
        Set<Integer> before = last != null && now - last.seenAt <= REMEMBERED ? last.limits : Set.of();
        if (before.size() >= MOST_LIMITS) {
            reported.put(name, new Reported(before, now));
            return false;
        }
        Set<Integer> all = new HashSet<>(before);
        all.addAll(limits);
        reported.put(name, new Reported(all, now));
        return all.size() > before.size();
    }

    private static String members(Set<String> members) {
        Stream<String> some = members.stream().limit(MOST_MEMBERS).map(LogSafe::escape);
        Stream<String> others = members.size() > MOST_MEMBERS
                ? Stream.of("%d more".formatted(members.size() - MOST_MEMBERS))
                : Stream.of();
        return Stream.concat(some, others).collect(Collectors.joining(", "));
    }
}
