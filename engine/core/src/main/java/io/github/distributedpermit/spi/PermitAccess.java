package io.github.distributedpermit.spi;

import io.github.distributedpermit.PermitDefinition;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** What operators see of the permits, and change in the store. Thread-safe. */
public interface PermitAccess extends KeyDirectory {

    /** This instance. */
    Member member();

    /** How this instance gets along with the store. */
    StoreGauges status();

    /** All permits that are declared or have settings. */
    Collection<PermitDefinition> definitions();

    /** Whether the limit of a name is that of its settings. */
    boolean isLimitFromSettings(String name);

    /** What this instance knows of a name alone, also if its meters are those of a pattern. */
    Optional<PermitGauges> gauges(String name);

    /** The keys that calls of this name in this instance use, also those that run although their permits were lost. */
    List<String> keysInUse(String name);

    /**
     * The calls of this instance for a key, at most so many: those that run although their permits were lost, those that hold, then
     * those that wait, each the oldest first.
     */
    List<CallView> calls(String key, int most);

    /**
     * Sets or lifts the operator's limit of a key in the store; 0 is a pause. It ends on all instances after this time, also if this
     * one does not live then.
     *
     * @param limit one that the store has already keeps the time since when it is set, and gets another end
     * @param lasts zero if it does not end by itself
     */
    CompletionStage<Void> override(String key, OverrideLimit limit, Duration lasts);

    /** Sets a limit that does not end by itself, or lifts it. */
    default CompletionStage<Void> override(String key, OverrideLimit limit) {
        return override(key, limit, Duration.ZERO);
    }

    /** The permit with this name, or the settings with this pattern of names. */
    Optional<PermitDefinition> find(String name);

    /** The name of this application, by which {@link Pause#ofApplication} pauses it; empty if calls here do not obey pauses. */
    Optional<String> application();

    /** The keys of {@link Pause} that may pause calls of this name; empty if this instance has seen that there are no pauses. */
    List<String> pauses(String name);

    /**
     * Pauses all calls of a name or of an application, or ends that. Instances obey after a third of the lease, five seconds at most, and
     * two answers of the store.
     *
     * @param pause a key of {@link Pause}
     * @param limit 0, or an empty one to end the pause
     * @param lasts zero if it does not end by itself
     */
    CompletionStage<Void> pause(String pause, OverrideLimit limit, Duration lasts);

    /**
     * Some keys that the store has, of all names and instances; see {@link PermitStore#keys}.
     *
     * @param most how many at most
     */
    CompletionStage<KeyList> keysInStore(int most);

    /**
     * Takes all permits of a key from a member of the store; the calls that hold them are notified of the loss if the member is
     * alive. Ends with the number of permits taken, or fails with {@link PermitStoreException}.
     *
     * @param member as in {@link KeyState.MemberState#member}
     */
    CompletionStage<Integer> evict(String key, String member);

    /**
     * Takes the permits of one call of this instance, which is notified of the loss and may go on.
     *
     * @param call as in {@link Caller#call}
     * @return how many; 0 if it holds none that the store has recorded
     */
    int take(String key, long call);

    /** Has this instance take no more permits until it is restarted; running calls go on. Ends when they have ended. */
    CompletionStage<Void> drain();
}
