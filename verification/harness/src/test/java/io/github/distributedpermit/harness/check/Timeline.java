package io.github.distributedpermit.harness.check;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Things that begin and end, in the order of time. What ends at an instant ends before what begins then. */
final class Timeline<T> {

    private final List<Moment<T>> moments = new ArrayList<>();

    void add(T what, Span when) {
        moments.add(new Moment<>(when.from(), true, what));
        moments.add(new Moment<>(when.to(), false, what));
    }

    List<Moment<T>> inOrder() {
        moments.sort(Comparator.comparingLong((Moment<T> moment) -> moment.at).thenComparing(moment -> moment.begins));
        return moments;
    }

    /**
     * A beginning or an end.
     *
     * @param at when
     * @param begins which of the two
     * @param what of what
     */
    record Moment<T>(long at, boolean begins, T what) {}
}
