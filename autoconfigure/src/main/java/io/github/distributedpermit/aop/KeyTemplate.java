package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.ParserContext;

/** Makes the key of a call. */
@FunctionalInterface
interface KeyTemplate {

    /** Whether a text is the key itself. */
    static boolean isLiteral(String text) {
        return !text.contains(ParserContext.TEMPLATE_EXPRESSION.getExpressionPrefix());
    }

    /**
     * The key, neither empty nor blank.
     *
     * @throws IllegalArgumentException if this call has no key
     */
    String keyFor(Object target, Method method, @Nullable Object[] arguments);
}
