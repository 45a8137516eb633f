package io.github.distributedpermit.spi;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Keys that a store has, for operators: those that members use, have used a moment ago, or that have a limit of the operator.
 *
 * @param keys as the users gave them, in no order
 * @param more whether there are others
 */
public record KeyList(List<String> keys, boolean more) {

    /** Copies the list. */
    public KeyList {
        keys = List.copyOf(keys);
    }

    /**
     * Lists keys by their {@linkplain KeyEncoding encoded} names. A name that is too long to have the whole key counts as another one.
     *
     * @param names each once
     * @param most how many keys to list
     */
    public static KeyList ofEncoded(List<String> names, int most) {
        List<String> keys = names.stream()
                .map(KeyEncoding::decode)
                .flatMap(Optional::stream)
                .limit(most)
                .toList();
        return new KeyList(keys, keys.size() < names.size());
    }

    /** The same without the keys that are the library's own, such as those of pauses. */
    public KeyList ofCalls() {
        return new KeyList(
                keys.stream()
                        .filter(key -> !key.startsWith("distributed-permit."))
                        .toList(),
                more);
    }

    /** Lists keys of a store that has them as users gave them. */
    public static KeyList of(Stream<String> all, int most) {
        List<String> some = all.limit(most + 1L).toList();
        return new KeyList(some.size() > most ? some.subList(0, most) : some, some.size() > most);
    }
}
