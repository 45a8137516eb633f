package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object that has been read, with a view of its members by type. A member that is missing or has another type is
 * malformed. Not to be changed.
 *
 * <p>It keeps the members that this version does not use, so that {@link Format} can write them back.
 */
record JsonObject(Map<String, Object> members) {

    /** Stands for an entry that does not exist yet. */
    static final JsonObject EMPTY = new JsonObject(Map.of());

    /** @param value as {@link Json#parse} has returned it */
    static JsonObject of(Object value) {
        if (!(value instanceof Map<?, ?> map)) {
            throw new MalformedJsonException("Not a JSON object");
        }
        Map<String, Object> members = new LinkedHashMap<>();
        map.forEach((name, member) -> members.put((String) name, member));
        return new JsonObject(members);
    }

    /** A member whose value is {@code null} counts as missing, see {@link Json}. */
    boolean has(String name) {
        return members.containsKey(name);
    }

    /** The value cannot be null: {@link #value} has checked its type. */
    String text(String name) {
        return String.valueOf(value(name, String.class));
    }

    /** For members that Consul leaves out, such as the session of a key that no session has locked. */
    @Nullable
    String textOrNull(String name) {
        return has(name) ? text(name) : null;
    }

    /** A number with a fraction is malformed here. */
    long number(String name) {
        return value(name, Long.class);
    }

    /**
     * A whole number from 0 on. A negative or too large number is malformed, because it would become a wrong number
     * of permits.
     */
    int count(String name) {
        long number = number(name);
        if (number < 0 || number > Integer.MAX_VALUE) {
            throw new MalformedJsonException(name + " is " + number);
        }
        return (int) number;
    }

    /** A text such as "true" is malformed. */
    boolean flag(String name) {
        return value(name, Boolean.class);
    }

    JsonObject object(String name) {
        return of(value(name, Map.class));
    }

    /** The objects of an array; none if the member is missing. Consul leaves out an empty list of errors or results. */
    List<JsonObject> objects(String name) {
        return has(name) ? objects(value(name, List.class)) : List.of();
    }

    /** The objects of an array. */
    static List<JsonObject> objects(Object value) {
        List<JsonObject> objects = new ArrayList<>();
        for (Object each : array(value)) {
            objects.add(of(each));
        }
        return objects;
    }

    /** The texts of an array. */
    static List<String> texts(Object value) {
        List<String> texts = new ArrayList<>();
        for (Object each : array(value)) {
            if (!(each instanceof String text)) {
                throw new MalformedJsonException("Not a JSON string");
            }
            texts.add(text);
        }
        return texts;
    }

    private static List<?> array(Object value) {
        if (!(value instanceof List<?> list)) {
            throw new MalformedJsonException("Not a JSON array");
        }
        return list;
    }

    /**
     * Every accessor passes here, so that a wrong type is always reported as malformed and never as a {@link
     * ClassCastException}.
     */
    private <T> T value(String name, Class<T> type) {
        Object value = members.get(name);
        if (!type.isInstance(value)) {
            throw new MalformedJsonException(name + " is not a " + type.getSimpleName());
        }
        return type.cast(value);
    }
}
