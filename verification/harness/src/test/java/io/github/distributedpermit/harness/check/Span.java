package io.github.distributedpermit.harness.check;

import java.util.ArrayList;
import java.util.List;

/**
 * A piece of time, in {@code System.nanoTime()}.
 *
 * @param from its beginning
 * @param to its end
 */
public record Span(long from, long to) {

    /** How long it is. */
    public long length() {
        return to - from;
    }

    /** Whether both have an instant in common. */
    public boolean overlaps(Span other) {
        return from < other.to && other.from < to;
    }

    /** What is left of this when the others are taken away. */
    List<Span> without(List<Span> others) {
        List<Span> left = List.of(this);
        for (Span other : others) {
            List<Span> next = new ArrayList<>();
            for (Span piece : left) {
                if (!piece.overlaps(other)) {
                    next.add(piece);
                    continue;
                }
                if (piece.from < other.from) {
                    next.add(new Span(piece.from, other.from));
                }
                if (other.to < piece.to) {
                    next.add(new Span(other.to, piece.to));
                }
            }
            left = next;
        }
        return left;
    }
}
