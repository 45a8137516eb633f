package io.github.distributedpermit.spi;

import io.github.distributedpermit.PermitDefinition;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A key as the store has it.
 *
 * @param key the key, as the user gave it
 * @param used permits in use, over all members
 * @param override the operator's limit, if set
 * @param members those that hold, then those that wait, first come first
 * @param time the clock of the store, if it has one
 */
public record KeyState(
        String key, int used, OverrideLimit override, List<MemberState> members, Optional<Instant> time) {

    /** Copies the list. */
    public KeyState {
        members = List.copyOf(members);
    }

    /**
     * The limit in effect.
     *
     * @param own the limit of the permit's name. If each call states one, the highest that a member states; 0 if none does
     */
    public int limit(int own) {
        int stated = own == PermitDefinition.PER_CALL
                ? members.stream().mapToInt(MemberState::limit).max().orElse(0)
                : own;
        return override.orElse(stated);
    }

    /** A state without a time. */
    public KeyState(String key, int used, OverrideLimit override, List<MemberState> members) {
        this(key, used, override, members, Optional.empty());
    }

    /** The same, read when the clock of the store showed this. */
    public KeyState at(Optional<Instant> clock) {
        return new KeyState(key, used, override, members, clock);
    }

    /** The members that wait, head of the queue first. */
    public List<MemberState> queue() {
        return members.stream().filter(MemberState::waiting).toList();
    }

    /**
     * One member of a key. What the store does not record is empty.
     *
     * @param member its id
     * @param name the member's readable name, if the store has it: members of an older version do not record it everywhere
     * @param permits how many it holds
     * @param wanted how many it wants in all
     * @param limit the limit it states
     * @param waiting whether it is queued
     * @param calls how many of its calls wait, as of its last claim; 0 for a member that is not queued. Of a member that does
     *     not state it, only those that {@code wanted} covers
     * @param waited how long its oldest waiter has been waiting, by the clock of the store; empty for a member that is not
     *     queued, and in stores that order their queue by something else than a clock
     * @param leaseLeft how long the member's record outlives its last claim if no other follows; empty in stores that keep
     *     members alive by a session
     */
    public record MemberState(
            String member,
            Optional<String> name,
            int permits,
            int wanted,
            int limit,
            boolean waiting,
            int calls,
            Optional<Duration> waited,
            Optional<Duration> leaseLeft) {

        /** A member of which nothing more is known. */
        public MemberState(String member, int permits, int wanted, int limit, boolean waiting, int calls) {
            this(member, Optional.empty(), permits, wanted, limit, waiting, calls, Optional.empty(), Optional.empty());
        }

        /** Only what every store records. */
        public MemberState plain() {
            return new MemberState(member, permits, wanted, limit, waiting, calls);
        }

        /** The same under another id and with a name, for stores that use other ids in their records. */
        public MemberState named(String id, Optional<String> readable) {
            return new MemberState(id, readable, permits, wanted, limit, waiting, calls, waited, leaseLeft);
        }
    }
}
