package io.github.distributedpermit.backend.consul;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON: objects become maps, arrays lists, integers {@code Long} (an unsigned 64-bit number keeps its bits), other
 * numbers {@code Double}; a member that is {@code null} is left out, and one in an array is {@link #NULL}. A user who
 * adds nothing but Consul's client has no parser on the class path, and this backend needs very little of one. Nesting is
 * limited, so that no answer can overflow the stack. Used by one thread.
 *
 * <p>Everything that is not JSON ends with {@link MalformedJsonException}, never with another exception, so that callers have
 * one case to handle.
 */
final class Json {

    /** What stands for {@code null} in an array or alone. */
    static final Object NULL = new Object();

    /** Replies of Consul and entries of this library have fewer than ten levels. */
    private static final int MAX_DEPTH = 32;

    private static final Map<String, Object> WORDS = Map.of("true", true, "false", false, "null", NULL);

    private final String text;
    /** The next character that was not read. */
    private int at;

    private int depth;

    private Json(String text) {
        this.text = text;
    }

    /**
     * Parses one value; {@link MalformedJsonException} if it is not JSON. Anything but white space behind the value
     * is malformed.
     */
    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at < text.length()) {
            throw json.malformed();
        }
        return value;
    }

    /** Parses an object. Throws {@link MalformedJsonException} also for any other JSON value. */
    static JsonObject object(String text) {
        return JsonObject.of(parse(text));
    }

    /** Called with the next character at the value or at white space before it. */
    private Object value() {
        space();
        char c = peek();
        if (c == '{') {
            return object();
        }
        if (c == '[') {
            return array();
        }
        if (c == '"') {
            return string();
        }
        if (c == '-' || (c >= '0' && c <= '9')) {
            return number();
        }
        return word();
    }

    /** A member that is null is left out, so that readers treat it as missing. */
    private Map<String, Object> object() {
        deeper();
        Map<String, Object> members = new LinkedHashMap<>();
        expect('{');
        if (!next('}')) {
            do {
                space();
                String name = string();
                space();
                expect(':');
                Object value = value();
                if (value != NULL) {
                    members.put(name, value);
                }
            } while (next(','));
            expect('}');
        }
        depth--;
        return members;
    }

    /** A value of {@code null} keeps its place, so that positions do not shift. */
    private List<Object> array() {
        deeper();
        List<Object> values = new ArrayList<>();
        expect('[');
        if (!next(']')) {
            do {
                values.add(value());
            } while (next(','));
            expect(']');
        }
        depth--;
        return values;
    }

    /**
     * Most texts have no escapes; these are cut out as they are. A text without its closing quotation mark is
     * malformed.
     */
    private String string() {
        expect('"');
        int end = at;
        while (end < text.length() && text.charAt(end) != '"' && text.charAt(end) != '\\') {
            end++;
        }
        if (end < text.length() && text.charAt(end) == '"') {
            String plain = text.substring(at, end);
            at = end + 1;
            return plain;
        }
        StringBuilder value = new StringBuilder();
        while (peek() != '"') {
            char c = text.charAt(at++);
            value.append(c == '\\' ? escaped() : c);
        }
        at++;
        return value.toString();
    }

    /** The backslash was read already. */
    private char escaped() {
        char c = peek();
        at++;
        int control = "bfnrt".indexOf(c);
        if (control >= 0) {
            return "\b\f\n\r\t".charAt(control);
        }
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'u' -> unicode();
            default -> throw malformed();
        };
    }

    /** Half of a surrogate pair is one escape, so that both halves are read one after the other. */
    private char unicode() {
        if (at + 4 > text.length()) {
            throw malformed();
        }
        try {
            char c = (char) Integer.parseInt(text, at, at + 4, 16);
            at += 4;
            return c;
        } catch (NumberFormatException e) {
            throw malformed();
        }
    }

    /**
     * HashiCorp's flags are above the highest signed number; they keep their 64 bits. Leading zeros and the like are
     * accepted: a value that JSON forbids harms nothing here.
     */
    private Number number() {
        int start = at;
        boolean integer = true;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            integer &= ".eE".indexOf(text.charAt(at)) < 0;
            at++;
        }
        String digits = text.substring(start, at);
        try {
            if (!integer) {
                return Double.valueOf(digits);
            }
            return digits.startsWith("-") ? Long.parseLong(digits) : Long.parseUnsignedLong(digits);
        } catch (NumberFormatException e) {
            throw malformed();
        }
    }

    /** They are the only values that begin with a letter. */
    private Object word() {
        for (Map.Entry<String, Object> word : WORDS.entrySet()) {
            if (text.startsWith(word.getKey(), at)) {
                at += word.getKey().length();
                return word.getValue();
            }
        }
        throw malformed();
    }

    /** Called at the beginning of each object and array; the end lowers the depth again. */
    private void deeper() {
        depth++;
        if (depth > MAX_DEPTH) {
            throw malformed();
        }
    }

    /** Skips the character if it comes next, after white space. */
    private boolean next(char wanted) {
        space();
        if (peek() != wanted) {
            return false;
        }
        at++;
        return true;
    }

    /** Unlike {@link #next}, skips no white space. */
    private void expect(char wanted) {
        if (peek() != wanted) {
            throw malformed();
        }
        at++;
    }

    /** The end of the text is malformed wherever a character is expected. */
    private char peek() {
        if (at >= text.length()) {
            throw malformed();
        }
        return text.charAt(at);
    }

    /** The four characters that JSON allows between its parts. */
    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    /** The message has the position and not the text, which may be a value of a user's key. */
    private MalformedJsonException malformed() {
        return new MalformedJsonException("Not JSON, from character " + at + " of " + text.length());
    }

    /** The text is not JSON, or not the JSON that was expected. */
    static final class MalformedJsonException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        MalformedJsonException(@Nullable String message) {
            super(message);
        }
    }
}
