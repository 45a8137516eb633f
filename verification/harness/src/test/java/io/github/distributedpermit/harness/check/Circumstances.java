package io.github.distributedpermit.harness.check;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What the harness itself did in a run, without which its history cannot be judged. Confined to one thread. */
public final class Circumstances {

    private final Map<Integer, Long> deaths = new HashMap<>();
    private final Map<Integer, List<Span>> pauses = new HashMap<>();
    private final List<Span> outages = new ArrayList<>();
    private final List<Span> excused = new ArrayList<>();
    private final List<Long> rebirths = new ArrayList<>();
    private final List<Long> returns = new ArrayList<>();

    /** A process was killed. */
    public void died(int member, long at) {
        deaths.put(member, at);
    }

    /** A process stood still. */
    public void paused(int member, Span when) {
        pauses.computeIfAbsent(member, m -> new ArrayList<>()).add(when);
    }

    /** The store gave no permits, nor could it. */
    public void outage(Span when) {
        outages.add(when);
    }

    /** More holders than the limit are a named exception then. */
    public void excuse(Span when) {
        excused.add(when);
    }

    /** The store lost all it knew, by which tokens of it may begin anew. */
    public void reborn(long at) {
        rebirths.add(at);
    }

    /** From now on there is a server that can serve. */
    public void serves(long from) {
        returns.add(from);
    }

    List<Long> returns() {
        return returns;
    }

    /** Which of the store's lives that moment is in. */
    long life(long at) {
        return rebirths.stream().filter(birth -> birth <= at).count();
    }

    /** When the process died; never: the largest number. */
    long death(int member) {
        return deaths.getOrDefault(member, Long.MAX_VALUE);
    }

    List<Span> pauses(int member) {
        return pauses.getOrDefault(member, List.of());
    }

    List<Span> outages() {
        return outages;
    }

    /** The latest fault that excuses it. */
    Optional<Span> excuseOf(Span when) {
        return excused.stream()
                .filter(span -> span.from() <= when.from() && when.to() <= span.to())
                .max(Comparator.comparingLong(Span::from));
    }
}
