package io.github.distributedpermit.backend.consul;

import java.util.Collection;
import java.util.Map;

/**
 * Writes JSON, members in the order of the map. What {@link Json} has read is written with the same values. Used by one thread.
 */
final class JsonText {

    /** Most texts are entries of about a hundred characters. */
    private final StringBuilder text = new StringBuilder(256);

    private JsonText() {}

    /**
     * Of maps, collections, texts, numbers and booleans.
     *
     * @param value of the types that {@link Json} returns, or built from them
     */
    static String of(Object value) {
        JsonText json = new JsonText();
        json.append(value);
        return json.text.toString();
    }

    /** Any other object is written as its text. */
    private void append(Object value) {
        if (value instanceof Map<?, ?> map) {
            object(map);
        } else if (value instanceof Collection<?> values) {
            array(values);
        } else if (value == Json.NULL) {
            text.append("null");
        } else if (value instanceof Number || value instanceof Boolean) {
            // Includes the unsigned flags of TxnOperation, whose text has no sign.
            text.append(value);
        } else {
            quoted(value.toString());
        }
    }

    /**
     * The order of the members is kept: the first member of a contender's entry is how this library finds its own,
     * see {@link LockFileTree}.
     */
    private void object(Map<?, ?> map) {
        char separator = '{';
        for (Map.Entry<?, ?> member : map.entrySet()) {
            text.append(separator);
            separator = ',';
            quoted(member.getKey().toString());
            text.append(':');
            append(member.getValue());
        }
        text.append(separator == '{' ? "{}" : "}");
    }

    private void array(Collection<?> values) {
        char separator = '[';
        for (Object value : values) {
            text.append(separator);
            separator = ',';
            append(value);
        }
        text.append(separator == '[' ? "[]" : "]");
    }

    /** Surrogates are escaped, so that half of a pair survives the encoding as UTF-8. */
    private void quoted(String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                text.append("\\u%04x".formatted((int) c));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }
}
