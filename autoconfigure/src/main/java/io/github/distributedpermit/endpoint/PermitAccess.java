package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitGauges;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;

/** What the endpoint asks of the engine. Thread-safe. */
public interface PermitAccess {

    /** This instance. */
    Member member();

    /** The kind of store. */
    String backend();

    /** All permits that are declared or have settings. */
    Collection<PermitDefinition> definitions();

    /** Whether the limit of a name is that of its settings. */
    boolean isLimitFromSettings(String name);

    /** What this instance knows of a name alone, also if its meters are those of a pattern. */
    Optional<PermitGauges> gauges(String name);

    /** The keys that calls of this name in this instance use. */
    List<String> keysInUse(String name);

    /** The calls of this instance for a key, those that hold first; at most so many. */
    List<CallView> calls(String key, int most);

    /** The key in the store. */
    CompletionStage<KeyState> inspect(String key);

    /** Sets or lifts the operator's limit of a key. */
    CompletionStage<Void> override(String key, OptionalInt limit);

    /** Takes the permits of a key from a member. */
    CompletionStage<Integer> evict(String key, String member);

    /** Has this instance take no more permits until it is restarted; running calls go on. */
    void drain();
}
