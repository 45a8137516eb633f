package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
import org.springframework.expression.spel.support.DataBindingMethodResolver;
import org.springframework.expression.spel.support.DataBindingPropertyAccessor;

/**
 * What an expression may see: the call's arguments, properties and instance methods of what it finds there, and nothing
 * else: no types, constructors, beans or writes. Arguments are values; their text is never parsed.
 */
final class KeyContexts {

    // both cache by type, so they are shared
    private final List<PropertyAccessor> properties = List.of(DataBindingPropertyAccessor.forReadOnlyAccess());
    private final List<MethodResolver> methods = List.of(DataBindingMethodResolver.forInstanceMethodInvocation());

    EvaluationContext of(Object target, Method method, @Nullable Object[] arguments, ParameterNameDiscoverer names) {
        KeyRoot root = new KeyRoot(target, method, arguments);
        MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(root, method, arguments, names);
        context.setPropertyAccessors(properties);
        context.setMethodResolvers(methods);
        context.setConstructorResolvers(List.of());
        context.setTypeLocator(type -> {
            throw new SpelEvaluationException(SpelMessage.TYPE_NOT_FOUND, type);
        });
        return context;
    }

    /** {@code #root}. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record KeyRoot(Object target, Method method, @Nullable Object[] args) {}
}
