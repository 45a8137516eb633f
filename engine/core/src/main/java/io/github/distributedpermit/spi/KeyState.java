package io.github.distributedpermit.spi;

import java.util.List;
import java.util.OptionalInt;

/**
 * A key as the store has it.
 *
 * @param key the key, as the user gave it
 * @param used permits in use, over all members
 * @param override the operator's limit, if set
 * @param members those that hold, then those that wait, first come first
 */
public record KeyState(String key, int used, OptionalInt override, List<MemberState> members) {

    /** Copies the list. */
    public KeyState {
        members = List.copyOf(members);
    }

    /**
     * One member of a key.
     *
     * @param member its id
     * @param permits how many it holds
     * @param wanted how many it wants in all
     * @param limit the limit it states
     * @param waiting whether it is queued
     */
    public record MemberState(String member, int permits, int wanted, int limit, boolean waiting) {}
}
