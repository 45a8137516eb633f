package io.github.distributedpermit.spi;

import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;

/** The keys that this instance uses, and how the store has them: for metrics of all instances. Thread-safe. */
public interface KeyDirectory {

    /**
     * Shows all keys that this instance uses: first those that a declaration names literally, used or not, then those of
     * calls, in no order. A key may be shown twice, and under each name whose calls hold or wait.
     *
     * @param consumer receives the name of a permit, or the pattern of the settings that gives it its limit, and a key
     */
    void forEachKey(BiConsumer<String, String> consumer);

    /** A key as the store has it; fails with {@link PermitStoreException}. */
    CompletionStage<KeyState> inspect(String key);
}
