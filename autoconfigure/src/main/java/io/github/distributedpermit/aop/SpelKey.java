package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;

/** A key or another attribute with {@code #{...}} in it, evaluated for each call. */
final class SpelKey implements KeyTemplate {

    private final String attribute;
    private final String text;
    private final String origin;
    private final List<Expression> parts;
    private final ParameterNameDiscoverer names;
    private final KeyContexts contexts;

    SpelKey(
            String attribute,
            String text,
            String origin,
            List<Expression> parts,
            ParameterNameDiscoverer names,
            KeyContexts contexts) {
        this.attribute = attribute;
        this.text = text;
        this.origin = origin;
        this.parts = List.copyOf(parts);
        this.names = names;
        this.contexts = contexts;
    }

    @Override
    public String keyFor(Object target, Method method, @Nullable Object[] arguments) {
        EvaluationContext context = contexts.of(target, method, arguments, names);
        StringBuilder key = new StringBuilder();
        for (Expression part : parts) {
            key.append(textOf(part, context));
        }
        if (key.toString().isBlank()) {
            throw refusal("is blank", null);
        }
        return key.toString();
    }

    private String textOf(Expression part, EvaluationContext context) {
        try {
            return KeyText.of(part.getValue(context), part.getExpressionString());
        } catch (KeyText.Missing e) {
            throw refusal(String.valueOf(e.getMessage()), null);
        } catch (EvaluationException e) {
            throw refusal("cannot be made: " + e.getMessage(), e);
        }
    }

    private IllegalArgumentException refusal(String problem, @Nullable Throwable cause) {
        return new IllegalArgumentException(
                "%s: the %s '%s' of @DistributedPermit %s in this call".formatted(origin, attribute, text, problem),
                cause);
    }
}
