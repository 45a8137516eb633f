package io.github.distributedpermit.spi;

import java.util.Optional;

/**
 * The keys that say whether an operator has paused all calls of a name, or of an application. A pause is the operator's limit 0 of such a
 * key, so that every store can keep one. No call uses these keys (docs/decisions/0029-a-pause-is-a-limit-of-a-key-without-calls.md).
 */
public final class Pause {

    /** Its limit is another one after each change of a pause, so that instances read one key to learn of changes. */
    public static final String CHANGES = "distributed-permit.pause.changes";

    private static final String NAME = "distributed-permit.pause.name:";
    private static final String APPLICATION = "distributed-permit.pause.application:";

    private Pause() {}

    /** The key for all calls of a permit, in all applications. */
    public static String ofName(String name) {
        return NAME + name;
    }

    /** The key for all calls of an application, by its {@code spring.application.name}. */
    public static String ofApplication(String application) {
        return APPLICATION + application;
    }

    /** What the key pauses, for people; empty for a key of calls. */
    public static Optional<String> describe(String key) {
        return key.startsWith(NAME)
                ? Optional.of("permit '" + key.substring(NAME.length()) + "'")
                : key.startsWith(APPLICATION)
                        ? Optional.of("application '" + key.substring(APPLICATION.length()) + "'")
                        : Optional.empty();
    }
}
