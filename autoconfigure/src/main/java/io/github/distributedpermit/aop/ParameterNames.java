package io.github.distributedpermit.aop;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.util.ClassUtils;

/**
 * The names by which one key refers to the parameters of its method: those of the method that has the annotation, because the
 * key is written there, also if a class that implements it has other names. Where the annotation is on a type, or that method
 * has no names in its class file, they are those of the bean's class; a bean that is only a proxy, such as an HTTP interface
 * or a repository, has those of its interface. Immutable.
 */
final class ParameterNames implements ParameterNameDiscoverer {

    private static final ParameterNameDiscoverer DISCOVERER = new DefaultParameterNameDiscoverer();

    @SuppressWarnings("ImmutableMemberCollection") // never changed
    private final @Nullable String @Nullable [] names;

    private ParameterNames(@Nullable String @Nullable [] names) {
        this.names = names;
    }

    /**
     * The names for a key.
     *
     * @param annotated the method that has the annotation; {@code null} if a type has it
     * @param method as the bean's class has it
     * @param type the bean's class
     */
    static ParameterNames of(@Nullable Method annotated, Method method, Class<?> type) {
        return new ParameterNames(Stream.of(annotated, method, ClassUtils.getInterfaceMethodIfPossible(method, type))
                .filter(Objects::nonNull)
                .<@Nullable String @Nullable []>map(DISCOVERER::getParameterNames)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null));
    }

    @Override
    public @Nullable String @Nullable [] getParameterNames(Method method) {
        return names;
    }

    @Override
    public @Nullable String @Nullable [] getParameterNames(Constructor<?> constructor) {
        return null;
    }
}
