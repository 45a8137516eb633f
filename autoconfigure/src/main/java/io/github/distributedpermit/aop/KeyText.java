package io.github.distributedpermit.aop;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ObjectUtils;

/** What an expression adds to a key: the text that its value has of itself. */
final class KeyText {

    private KeyText() {}

    /**
     * The text of a value, or of what is in it if that is an {@link java.util.Optional}.
     *
     * @throws Missing if it has none
     */
    static String of(@Nullable Object evaluated, String expression) {
        Object value = ObjectUtils.unwrapOptional(evaluated);
        if (value == null) {
            // never a key that all calls with a null would share
            throw new Missing("has a null in '%s'".formatted(expression));
        }
        if (!hasText(value)) {
            throw new Missing("has a %s in '%s', which is no text; name a property of it"
                    .formatted(value.getClass().getTypeName(), expression));
        }
        return value instanceof Enum<?> constant ? constant.name() : value.toString();
    }

    /** The identity that {@code Object.toString} prints would make a key of its own for every object. */
    private static boolean hasText(Object value) {
        if (value instanceof String || value instanceof Number) {
            return true;
        }
        try {
            return value.getClass().getMethod("toString").getDeclaringClass() != Object.class;
        } catch (NoSuchMethodException e) {
            // a native image without a hint for the class; every object has the method
            String identity = value.getClass().getName() + "@" + Integer.toHexString(value.hashCode());
            return !identity.equals(value.toString());
        }
    }

    /** A value without a text of its own. */
    static final class Missing extends RuntimeException {

        private static final long serialVersionUID = 1L;

        Missing(String problem) {
            super(problem);
        }
    }
}
