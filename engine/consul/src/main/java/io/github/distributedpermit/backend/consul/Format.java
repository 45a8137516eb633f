package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.PermitStoreException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which version of the stored data an entry of ours has; the policy is in docs/compatibility.md. Every entry carries it,
 * because each may outlive the others. HashiCorp's document and an operator's override have none.
 *
 * <p>Immutable. {@link #read} and {@link #text} are the only ways in which entries of this library are read and
 * written, so that no class can leave the version out.
 *
 * @param number counts the changes of the stored data
 * @param reader the lowest number that an instance has to know to use the data
 */
record Format(int number, int reader) {

    /** Of this version. */
    static final Format KNOWN = new Format(2, 1);

    private static final String NUMBER = "format";
    private static final String READER = "reader";

    /** Entries of the first version have neither number. */
    static Format of(JsonObject json) {
        return new Format(json.has(NUMBER) ? json.count(NUMBER) : 1, json.has(READER) ? json.count(READER) : 1);
    }

    boolean isReadable() {
        return reader <= KNOWN.number;
    }

    /** Reads an entry of ours; fails permanently if only newer versions may use it. */
    static JsonObject read(KeyValue entry) {
        JsonObject json = Json.object(entry.value());
        Format format = of(json);
        if (!format.isReadable()) {
            throw PermitStoreException.newerFormat(
                    "Consul's key " + entry.key(), format.number, format.reader, KNOWN.number);
        }
        return json;
    }

    /** The text of a new entry, its fields in the order of the map. */
    static String text(Map<String, ?> fields) {
        return text(JsonObject.EMPTY, fields);
    }

    /** The text of an entry that is written anew: what this version does not know of it stays. */
    static String text(JsonObject before, Map<String, ?> fields) {
        Format known = of(before);
        Map<String, Object> all = new LinkedHashMap<>(fields);
        // A field of a newer version stays, so that instances of two versions can share a key.
        before.members().forEach(all::putIfAbsent);
        // Neither number is ever lowered: an older instance must not open an entry to readers that cannot use it.
        all.put(NUMBER, Math.max(known.number, KNOWN.number));
        all.put(READER, Math.max(known.reader, KNOWN.reader));
        return JsonText.of(all);
    }
}
