package io.github.distributedpermit.core;

import io.github.distributedpermit.PermitDefinition;

/**
 * A limit as users write it: a whole number, or {@code unlimited}. Immutable. Spring Boot makes it of the text of a property.
 *
 * @param permits how many permits a key has, {@link PermitDefinition#UNLIMITED} for no limit
 */
public record Limit(int permits) {

    private static final String UNLIMITED_TEXT = "unlimited";

    /** No limit: calls do not ask the store. */
    public static final Limit UNLIMITED = new Limit(PermitDefinition.UNLIMITED);

    /**
     * The limit of this text.
     *
     * @throws NumberFormatException if it is neither a whole number nor {@code unlimited}
     */
    public static Limit valueOf(String text) {
        String stripped = text.strip();
        return stripped.equalsIgnoreCase(UNLIMITED_TEXT) ? UNLIMITED : of(Integer.parseInt(stripped));
    }

    /** The limit of this number, as a YAML file has it. */
    public static Limit valueOf(Integer permits) {
        return of(permits);
    }

    /** The limit of this number. */
    public static Limit of(int permits) {
        return new Limit(permits);
    }

    /** Whether it is in the range of {@link PermitDefinition#limit()}. */
    public boolean isPossible() {
        return permits == PermitDefinition.UNLIMITED || (permits >= 1 && permits <= PermitDefinition.MAX_LIMIT);
    }

    @Override
    public String toString() {
        return permits == PermitDefinition.UNLIMITED
                ? UNLIMITED_TEXT
                : permits == PermitDefinition.PER_CALL ? "one for each call" : Integer.toString(permits);
    }
}
