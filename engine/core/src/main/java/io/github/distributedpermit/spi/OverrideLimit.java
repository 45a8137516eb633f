package io.github.distributedpermit.spi;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * The limit that an operator sets for a key, with who set it and why, or none. Stores keep it as {@link #text}. Immutable.
 *
 * @param limit 0 is a pause; -1 stands for no override
 * @param since when it was set, in milliseconds since 1970 on the clock of the store, or of the instance if the store has none; 0 if
 *     that is unknown
 * @param until when it ends, on the same clock; 0 for never
 * @param by who set it; may be empty
 * @param reason why; may be empty
 */
public record OverrideLimit(int limit, long since, long until, String by, String reason) {

    /** A longer name of who set it, or a longer reason, is cut. */
    public static final int LONGEST_TEXT = 200;

    private static final int NOT_SET = -1;
    private static final String NONE = "-";
    private static final String SEPARATOR = ";";
    private static final int FIELDS = 5;
    private static final OverrideLimit EMPTY = new OverrideLimit(NOT_SET, 0, 0, "", "");

    /** Refuses a negative limit, in the caller's thread, and cuts long texts. */
    public OverrideLimit {
        if (limit < NOT_SET) {
            throw negative(limit);
        }
        by = cut(by);
        reason = cut(reason);
    }

    /** No override: each member's own limit applies. */
    public static OverrideLimit empty() {
        return EMPTY;
    }

    /**
     * A limit without further terms.
     *
     * @throws IllegalArgumentException if the limit is negative
     */
    public static OverrideLimit of(int limit) {
        return of(limit, "", "");
    }

    /**
     * A limit that was not set yet, so that it has no times.
     *
     * @throws IllegalArgumentException if the limit is negative
     */
    public static OverrideLimit of(int limit, String by, String reason) {
        if (limit < 0) {
            throw negative(limit);
        }
        return new OverrideLimit(limit, 0, 0, by, reason);
    }

    /** Whether an operator has set a limit. */
    public boolean isPresent() {
        return limit >= 0;
    }

    /** Whether no operator has set a limit. */
    public boolean isEmpty() {
        return limit < 0;
    }

    /** The limit that the operator has set. */
    public int getAsInt() {
        if (isEmpty()) {
            throw new NoSuchElementException("No limit is set");
        }
        return limit;
    }

    /** The limit in force for a member with this limit of its own. */
    public int orElse(int own) {
        return isEmpty() ? own : limit;
    }

    /** When it was set, if that is known. */
    public Optional<Instant> setAt() {
        return time(since);
    }

    /** When it ends, if it ends by itself. */
    public Optional<Instant> endsAt() {
        return time(until);
    }

    /** The same, in force between these times. */
    public OverrideLimit during(long from, long to) {
        return new OverrideLimit(limit, from, to, by, reason);
    }

    /** A line of printable ASCII without spaces; only the number if it has no terms. */
    public String text() {
        if (isEmpty()) {
            return NONE;
        }
        return since == 0 && until == 0 && by.isEmpty() && reason.isEmpty()
                ? Integer.toString(limit)
                : String.join(
                        SEPARATOR,
                        Integer.toString(limit),
                        Long.toString(since),
                        Long.toString(until),
                        URLEncoder.encode(by, StandardCharsets.UTF_8),
                        URLEncoder.encode(reason, StandardCharsets.UTF_8));
    }

    /**
     * Reads {@link #text}. Terms that cannot be read are left out: what counts is the limit.
     *
     * @throws NumberFormatException if the limit is no number
     */
    public static OverrideLimit parse(String text) {
        if (text.equals(NONE)) {
            return EMPTY;
        }
        String[] fields = text.split(SEPARATOR, -1);
        int limit = Integer.parseInt(fields[0]);
        if (fields.length < FIELDS) {
            return of(limit);
        }
        try {
            return new OverrideLimit(
                    limit,
                    Long.parseLong(fields[1]),
                    Long.parseLong(fields[2]),
                    URLDecoder.decode(fields[3], StandardCharsets.UTF_8),
                    URLDecoder.decode(fields[4], StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return of(limit);
        }
    }

    private static Optional<Instant> time(long millis) {
        return millis == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(millis));
    }

    private static String cut(String text) {
        return text.length() > LONGEST_TEXT ? text.substring(0, LONGEST_TEXT) : text;
    }

    private static IllegalArgumentException negative(int limit) {
        return new IllegalArgumentException(
                "The override of a limit is 0 (a pause) or more, not %d; give an empty one to lift the override"
                        .formatted(limit));
    }
}
