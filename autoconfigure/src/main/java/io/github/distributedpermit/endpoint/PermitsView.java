package io.github.distributedpermit.endpoint;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * What the endpoint answers, as JSON. What is not known is {@code null} here and left out there. Each answer is an
 * {@link OperationResponseBody}, so that the application's own settings of Jackson do not change it.
 *
 * @param store where the permits are
 * @param instance the instance that answers
 * @param application that it is one of, by which all of its calls can be paused
 * @param changes why this endpoint accepts no changes; {@code null} if it does
 * @param permits by name, in alphabetical order
 * @param truncated whether there are more names than are listed
 * @param problem why the store did not answer for each permit; those for which it did not have no {@code limit}
 * @param shortestLeases of each member the lease that ends first, over all keys that were read, the shortest first
 * @param events the last that this instance has seen, newest first
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PermitsView(
        Store store,
        Instance instance,
        @Nullable String application,
        @Nullable String changes,
        List<Summary> permits,
        boolean truncated,
        @Nullable String problem,
        List<Lease> shortestLeases,
        List<Event> events)
        implements OperationResponseBody {

    /**
     * A member that renews what it has, or does not.
     *
     * @param member its id
     * @param name its readable name, if the store has it
     * @param key of the record
     * @param leaseLeftMillis how long the record outlives the member's last claim of that key
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Lease(String member, @Nullable String name, String key, long leaseLeftMillis) {}

    /**
     * What happened.
     *
     * @param at by the clock of the instance
     * @param kind {@code limit}, {@code eviction}, {@code loss}, {@code expiry}, {@code grace}, {@code outage} or {@code drain}
     * @param key that it concerns; empty for all
     * @param text for people
     * @param count how often it happened one after another
     */
    public record Event(Instant at, String kind, String key, String text, int count) {}

    /**
     * A limit that an operator has set.
     *
     * @param limit 0 is a pause
     * @param since when it was set, by the clock of the store if it has one
     * @param until when it ends by itself
     * @param by who set it, and through which instance
     * @param reason why
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record OperatorLimit(
            int limit,
            @Nullable Instant since,
            @Nullable Instant until,
            @Nullable String by,
            @Nullable String reason) {}

    /**
     * A pause of all calls of a permit, of an application, or of a key.
     *
     * @param what is paused
     * @param key that has the operator's limit 0, which a {@code DELETE} lifts; {@code null} for a permit or an application
     * @param since when, by the clock of the store if it has one
     * @param until when it ends by itself
     * @param by who set it, and through which instance
     * @param reason why
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Paused(
            String what,
            @Nullable String key,
            @Nullable Instant since,
            @Nullable Instant until,
            @Nullable String by,
            @Nullable String reason) {}

    /**
     * The store.
     *
     * @param backend its kind
     * @param address host and port, without user and password; empty if it has none
     * @param tookMillis how long it took for the slowest of the keys that are shown; {@code null} if it answered for none
     * @param slowMillis how long claims of this instance take, if the store answers them slowly; {@code null} if it does not
     * @param keysInGrace how many keys of this instance get no new permits for a while, because the store may have lost state; {@code null}
     *     if there are none
     * @param graceUntil until when that goes on at most; {@code null} if it does not, or for longer because of the lease of another instance
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Store(
            String backend,
            String address,
            @Nullable Long tookMillis,
            @Nullable Long slowMillis,
            @Nullable Integer keysInGrace,
            @Nullable Instant graceUntil) {}

    /**
     * An instance of the fleet.
     *
     * @param member its id, new at every start
     * @param name its readable name
     * @param draining whether it takes no more permits until it is restarted, as an operator has ordered
     */
    public record Instance(String member, String name, boolean draining) {}

    /**
     * One permit: its limit in the store, and what calls of this instance do.
     *
     * @param name of the permit
     * @param key of all calls, if it is the same for all of them
     * @param limit in force for that key, else for the key with the name of the permit; {@code null} if the store did not answer for it or
     *     for a pause, or if each call states its own limit
     * @param limitSource where it comes from: {@code pause} of the permit or the application, {@code override} of the key, {@code annotation} or
     *     {@code settings}; {@code none} for a permit without a limit
     * @param statedLimit the limit that this instance states; {@code null} if each call states its own, or there is none
     * @param overrides the operator's limits of keys that this instance knows, by key; {@code null} if there are none
     * @param paused the pauses of the permit, of the application and of keys; {@code null} if there are none
     * @param within the name of the permit that it lies within; so the list is a tree
     * @param holding permits that calls of this instance hold, over all keys
     * @param waiting calls of this instance that wait, over all keys
     * @param runningLost calls of this instance that run although their permits were lost, over all keys
     * @param holdingSince since when the call of this instance holds its permits that has held them for the longest; {@code null} if none does
     * @param holdingAllSince since when all calls of this instance that hold permits have held them; {@code null} if none does
     * @param averageHoldMillis for how long the last hundreds of calls of this instance held their permits, on average; {@code null} if that
     *     is not known
     * @param rejectedLately calls of this instance that got no permit although the store answered, in the last minute; {@code null} if that is
     *     not known, as of a name that was not kept among too many
     * @param rejectedAt when the last of them was; {@code null} if there is none
     * @param failedLately calls of this instance that ended because the store failed, in the last minute; {@code null} if that is not known
     * @param failedAt when the last of them was; {@code null} if there is none
     * @param fleet what the store has for all instances; {@code null} if it did not answer, or if calls do not ask it
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Summary(
            String name,
            @Nullable String key,
            @Nullable Integer limit,
            @Nullable String limitSource,
            @Nullable Integer statedLimit,
            @Nullable Map<String, OperatorLimit> overrides,
            @Nullable List<Paused> paused,
            @Nullable String within,
            int holding,
            int waiting,
            int runningLost,
            @Nullable Instant holdingSince,
            @Nullable Instant holdingAllSince,
            @Nullable Long averageHoldMillis,
            @Nullable Integer rejectedLately,
            @Nullable Instant rejectedAt,
            @Nullable Integer failedLately,
            @Nullable Instant failedAt,
            @Nullable Fleet fleet) {

        /** Whether all calls of the permit are paused, and not those of some keys alone. */
        public boolean allPaused() {
            return paused != null && paused.stream().anyMatch(pause -> pause.key() == null);
        }
    }

    /**
     * What the store has for all instances, of the keys of a permit that this instance knows.
     *
     * @param keys how many were read
     * @param inUse permits that members hold, over these keys
     * @param waiting calls that wait, of all members, over these keys; those of this instance as they are now
     * @param waitingSince when the oldest call that waits arrived, if that is known of one
     * @param waitingSinceUnknown whether others wait of which the store does not record since when
     * @param fullestKey the key of which the largest part of the limit is in use, and then for which most calls wait
     * @param fullestInUse permits of that key that members hold
     * @param fullestLimit the limit of that key in force
     * @param limitsDiffer whether members of a key state different limits, also while a limit of the operator applies instead
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Fleet(
            int keys,
            int inUse,
            int waiting,
            @Nullable Instant waitingSince,
            boolean waitingSinceUnknown,
            String fullestKey,
            int fullestInUse,
            int fullestLimit,
            boolean limitsDiffer) {

        /** The part of the fullest key's limit that is in use; 1 if that is paused. */
        public double use() {
            return fullestLimit == 0 ? 1 : (double) fullestInUse / fullestLimit;
        }
    }

    /**
     * What the calls of this instance did in the last hour, over all keys of a permit: the oldest number first, and the last one of
     * the present step.
     *
     * @param stepSeconds the time that one number covers
     * @param holding the most permits held at a time
     * @param waiting the most calls that waited at a time
     * @param rejected calls that got no permit
     */
    public record History(long stepSeconds, List<Integer> holding, List<Integer> waiting, List<Integer> rejected) {}

    /**
     * One permit with its keys.
     *
     * @param store where the permits are
     * @param instance the instance that answers
     * @param changes why this endpoint accepts no changes; {@code null} if it does
     * @param name of the permit
     * @param statedLimit the limit that this instance states; {@code null} if each call states its own, or there is none
     * @param paused the pauses of the permit, of the application and of keys; {@code null} if there are none
     * @param within the name of the permit that it lies within
     * @param holding permits that calls of this instance hold, over all keys
     * @param waiting calls of this instance that wait, over all keys
     * @param runningLost calls of this instance that run although their permits were lost, over all keys
     * @param averageHoldMillis for how long the last hundreds of calls of this instance held their permits, on average; {@code null} if that
     *     is not known
     * @param keysInUse how many keys of the permit calls of this instance use
     * @param keys in alphabetical order, at most as many as were asked for
     * @param truncated whether there are more keys than are shown
     * @param hint how to see the others
     * @param problem why the store did not answer for the pauses, so that no limit is known; each of the keys has it, too
     * @param history of the calls of this instance; {@code null} if it is not known
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Detail(
            Store store,
            Instance instance,
            @Nullable String changes,
            String name,
            @Nullable Integer statedLimit,
            @Nullable List<Paused> paused,
            @Nullable String within,
            int holding,
            int waiting,
            int runningLost,
            @Nullable Long averageHoldMillis,
            int keysInUse,
            List<Key> keys,
            boolean truncated,
            @Nullable String hint,
            @Nullable String problem,
            @Nullable History history)
            implements OperationResponseBody {}

    /**
     * One key in the whole fleet.
     *
     * @param key what is limited
     * @param limit in force: the operator's if one is set, else the one this instance states, or the highest stated one if each call
     *     states its own
     * @param limitSource where it comes from: {@code pause} of the permit or the application, {@code override} of the key, {@code annotation} or
     *     {@code settings}; {@code none} for a permit without a limit
     * @param override the operator's limit, if one is set
     * @param statedLimits the limits that members and this instance state, each with how many of them state it, lowest first; only if they
     *     differ
     * @param inUse permits that members hold
     * @param queued members that wait
     * @param waiting calls that wait, of all members, as of the last claim of each
     * @param members those that hold, then the queue, first come first
     * @param membersTruncated whether there are more members than are shown
     * @param calls of this instance: those that run although their permits were lost, those that hold, those that wait
     * @param callsTruncated whether there are more calls than are shown
     * @param holdingAllSince since when all calls of this instance that hold permits have held them; {@code null} if none does
     * @param problem why the store did not answer for it or for the pauses; then only the key and the calls are known
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Key(
            String key,
            @Nullable Integer limit,
            @Nullable String limitSource,
            @Nullable OperatorLimit override,
            @Nullable Map<Integer, Integer> statedLimits,
            @Nullable Integer inUse,
            @Nullable Integer queued,
            @Nullable Integer waiting,
            List<MemberRow> members,
            boolean membersTruncated,
            List<Call> calls,
            boolean callsTruncated,
            @Nullable Instant holdingAllSince,
            @Nullable String problem) {}

    /**
     * One member of a key.
     *
     * @param member its id
     * @param name its readable name, if the store has it
     * @param self whether it is the instance that answers
     * @param holding how many permits the store has recorded for it
     * @param wanted how many it wants in all; no more than the limit
     * @param waiting how many of its calls wait, as of its last claim
     * @param statedLimit the limit it states
     * @param queuePosition from 1 on, if it waits
     * @param waitingSince when its oldest call in the queue arrived, if the store records that
     * @param leaseLeftMillis until when the store keeps its record without another claim, if the store has leases
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record MemberRow(
            String member,
            @Nullable String name,
            boolean self,
            int holding,
            int wanted,
            int waiting,
            int statedLimit,
            @Nullable Integer queuePosition,
            @Nullable Instant waitingSince,
            @Nullable Long leaseLeftMillis) {}

    /**
     * One call of the instance that answers.
     *
     * @param call its number in this instance
     * @param state {@code lost}, {@code holding} or {@code waiting}
     * @param permits how many it has lost, holds or wants
     * @param since when it lost them, got them, or began to wait
     * @param method that the permit limits
     * @param thread that made the call
     * @param onThread whether that thread is within the call now; {@code false} if the call is asynchronous, so that the thread went on;
     *     {@code null} if that is not known
     * @param traceId of its trace
     * @param stack what that thread does now, only of the one call that was asked for, and only if the thread certainly is within it
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Call(
            @Nullable Long call,
            String state,
            int permits,
            Instant since,
            @Nullable String method,
            @Nullable String thread,
            @Nullable Boolean onThread,
            @Nullable String traceId,
            @Nullable List<String> stack) {}

    /**
     * Keys of the store.
     *
     * @param keys of whatever permits, since the store does not record names; in alphabetical order, without those of the permit that this
     *     instance knows
     * @param truncated whether there are others
     */
    public record KeysInStore(List<String> keys, boolean truncated) implements OperationResponseBody {}

    /**
     * The result of a change.
     *
     * @param name of the permit
     * @param key what is limited
     * @param override the operator's limit after it; left out if none is set
     * @param evicted how many permits were taken from a member
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Change(
            String name,
            String key,
            @Nullable Integer override,
            @Nullable Integer evicted) implements OperationResponseBody {}

    /**
     * Why a request was not answered.
     *
     * @param message what is wrong, and what to do
     * @param outcome {@code unknown} if the change may have been made, or be made later; {@code null} if it was not
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Problem(String message, @Nullable String outcome) implements OperationResponseBody {}
}
