package io.github.distributedpermit.endpoint;

import org.jspecify.annotations.Nullable;

/**
 * What of a permit is to be shown.
 *
 * @param key the one key; {@code null} for those in use
 * @param keys how many at most
 * @param calls how many of a key at most
 * @param stack the call whose thread's stack is to be shown; 0 for none
 */
record Query(@Nullable String key, int keys, int calls, long stack) {}
