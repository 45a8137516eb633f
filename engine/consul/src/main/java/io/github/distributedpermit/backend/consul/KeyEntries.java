package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The entries of one permit key, as one read or transaction returned them, and those parsed that both layouts have.
 * Immutable.
 *
 * <p>{@link SlotTree} and {@link LockFileTree} parse the rest in {@code others}. The distinction between these
 * entries and those of foreign applications is strict: what cannot be parsed is never overwritten.
 *
 * @param guard of the queue; {@code null} while there is none
 * @param override the operator's limit
 * @param waiting the members in the queue, by session
 * @param others the entries of the layout, by their names below the key's tree
 * @param index the highest index of a change that can still be seen
 */
record KeyEntries(
        KeyNames names,
        @Nullable KeyValue guard,
        OverrideLimit override,
        Map<String, QueuedMember> waiting,
        Map<String, KeyValue> others,
        long index) {

    /** Fails permanently if an entry is damaged. */
    static KeyEntries of(KeyNames names, List<KeyValue> tree) {
        KeyValue guard = null;
        OverrideLimit override = OverrideLimit.empty();
        Map<String, QueuedMember> waiting = new HashMap<>();
        Map<String, KeyValue> others = new HashMap<>();
        // Deleting an entry leaves no index behind, so that this is a lower bound for the last change of the key.
        long index = 0;
        for (KeyValue entry : tree) {
            String name = entry.key().substring(names.tree().length());
            if (name.indexOf('/') >= 0) {
                continue; // of an application whose prefix begins with the name of this key
            }
            index = Math.max(index, entry.modified());
            if (name.equals(KeyNames.GUARD)) {
                guard = entry;
            } else if (name.equals(KeyNames.OVERRIDE)) {
                // An entry of its own, because a limit of the operator has to outlive all members of the key.
                override = parse(entry, e -> override(Json.object(e.value())));
            } else if (name.startsWith(KeyNames.WAITING)) {
                String session = name.substring(KeyNames.WAITING.length());
                waiting.put(session, parse(entry, e -> QueuedMember.of(session, e)));
            } else {
                others.put(name, entry);
            }
        }
        return new KeyEntries(names, guard, override, waiting, others, index);
    }

    /** Another program may write the limit alone. */
    private static OverrideLimit override(JsonObject entry) {
        int limit = entry.count("limit");
        OverrideLimit set = entry.has("set") ? OverrideLimit.parse(entry.text("set")) : OverrideLimit.of(limit);
        return set.orElse(-1) == limit ? set : OverrideLimit.of(limit);
    }

    /** Parses an entry; if that fails nothing is ever written to the key, because the entry may belong to someone else. */
    static <T> T parse(KeyValue entry, Function<KeyValue, T> parser) {
        try {
            return parser.apply(entry);
        } catch (MalformedJsonException e) {
            throw PermitStoreException.permanent(
                    "Consul's key " + entry.key()
                            + " is damaged, or belongs to another application; nothing was written. "
                            + "Delete it if no client needs it",
                    e);
        }
    }

    /**
     * An entry that only the other layout has. Two layouts in one key would each count their own permits, and the sum
     * could exceed the limit.
     */
    static PermitStoreException ofOtherLayout(KeyValue entry, String layout) {
        return PermitStoreException.permanent(
                "Consul's key " + entry.key() + " belongs to layout " + layout
                        + "; all members of a key must use one layout",
                null);
    }
}
