package io.github.distributedpermit.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.context.event.SpringApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.ContextStartedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Recognises jobs: methods that Spring itself calls, at a time or at the start of the application. All instances call them, no caller
 * answers a rejection, and what a method throws that is called at the start ends the application.
 */
final class Jobs {

    private static final List<Class<?>> STARTED_BY =
            List.of(ApplicationRunner.class, CommandLineRunner.class, SmartInitializingSingleton.class);

    private static final List<Class<?>> STARTS =
            List.of(SpringApplicationEvent.class, ContextRefreshedEvent.class, ContextStartedEvent.class);

    /** Of the module for web servers, which an application may not have. */
    private static final String WEB_SERVER_STARTED =
            "org.springframework.boot.web.server.context.WebServerInitializedEvent";

    private Jobs() {}

    static boolean isJob(Method method) {
        return annotation(method, Scheduled.class).isPresent()
                || STARTED_BY.stream().anyMatch(type -> implementsMethodOf(type, method))
                || isListenerToTheStart(method);
    }

    private static boolean implementsMethodOf(Class<?> type, Method method) {
        return type.isAssignableFrom(method.getDeclaringClass())
                && Arrays.stream(type.getMethods())
                        .anyMatch(declared -> declared.getName().equals(method.getName())
                                && Arrays.equals(declared.getParameterTypes(), method.getParameterTypes()));
    }

    private static boolean isListenerToTheStart(Method method) {
        Stream<Class<?>> events = Arrays.stream(method.getParameterTypes());
        MergedAnnotation<EventListener> listener = annotation(method, EventListener.class);
        if (listener.isPresent()) {
            Class<?>[] declared = listener.getClassArray("classes");
            return (declared.length == 0 ? events : Arrays.stream(declared)).anyMatch(Jobs::isStart);
        }
        return ApplicationListener.class.isAssignableFrom(method.getDeclaringClass())
                && method.getName().equals("onApplicationEvent")
                && events.anyMatch(Jobs::isStart);
    }

    private static boolean isStart(Class<?> event) {
        return STARTS.stream().anyMatch(start -> start.isAssignableFrom(event))
                || AsyncReturnTypes.hasName(event, WEB_SERVER_STARTED);
    }

    private static <A extends Annotation> MergedAnnotation<A> annotation(Method method, Class<A> type) {
        return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).get(type);
    }
}
