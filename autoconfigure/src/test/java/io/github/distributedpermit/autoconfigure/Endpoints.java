package io.github.distributedpermit.autoconfigure;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** Reads all that the actuator of an application tells, as text. */
final class Endpoints {

    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final StringBuilder text = new StringBuilder();

    private Endpoints() {}

    /** What each endpoint answers to whoever asks for everything, by the endpoint's id. */
    static Map<String, String> read(ApplicationContext context) {
        Map<String, String> answers = new TreeMap<>();
        context.getBeansWithAnnotation(Endpoint.class).forEach((name, endpoint) -> {
            Class<?> type = AopUtils.getTargetClass(endpoint);
            Endpoint annotation = AnnotatedElementUtils.findMergedAnnotation(type, Endpoint.class);
            if (annotation == null || annotation.id().equals("heapdump")) {
                return;
            }
            Endpoints dump = new Endpoints();
            Arrays.stream(type.getMethods())
                    .filter(method -> AnnotatedElementUtils.hasAnnotation(method, ReadOperation.class))
                    .filter(method -> Arrays.stream(method.getParameters()).noneMatch(Endpoints::isSelected))
                    .forEach(method -> dump.add(call(endpoint, method)));
            answers.put(annotation.id(), dump.text.toString());
        });
        return answers;
    }

    private static boolean isSelected(Parameter parameter) {
        return parameter.isAnnotationPresent(Selector.class);
    }

    private static @Nullable Object call(Object endpoint, Method method) {
        try {
            return method.invoke(endpoint, new Object[method.getParameterCount()]);
        } catch (InvocationTargetException | IllegalAccessException e) {
            return e;
        }
    }

    /** As a mapper to JSON would: down into Boot's descriptions, and else what is written of a value. */
    private void add(@Nullable Object value) {
        if (value == null || !seen.add(value)) {
            return;
        }
        if (value instanceof Map<?, ?> map) {
            map.forEach((key, each) -> {
                text.append(key).append(": ");
                add(each);
            });
        } else if (value instanceof Iterable<?> many) {
            many.forEach(this::add);
        } else if (value instanceof Object[] many) {
            Arrays.stream(many).forEach(this::add);
        } else {
            text.append(value).append('\n');
            if (value.getClass().getName().startsWith("org.springframework.boot.")) {
                Arrays.stream(value.getClass().getMethods())
                        .filter(Endpoints::isGetter)
                        .forEach(method -> add(call(value, method)));
            }
        }
    }

    private static boolean isGetter(Method method) {
        return method.getParameterCount() == 0
                && !Modifier.isStatic(method.getModifiers())
                && method.getDeclaringClass() != Object.class
                && (method.getName().startsWith("get")
                        || method.getDeclaringClass().isRecord());
    }
}
