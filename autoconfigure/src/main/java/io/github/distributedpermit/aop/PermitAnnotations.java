package io.github.distributedpermit.aop;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.DistributedPermits;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the annotation: on the method, on what it overrides or implements, then on the type, its super types and
 * interfaces. The nearest place wins as a whole, so an override may declare other permits.
 */
final class PermitAnnotations {

    private static final RepeatableContainers CONTAINERS =
            RepeatableContainers.explicitRepeatable(DistributedPermit.class, DistributedPermits.class);

    private PermitAnnotations() {}

    /** Cheap and sometimes wrongly {@code true}. */
    static boolean mayBeOn(Class<?> type) {
        return AnnotationUtils.isCandidateClass(type, DistributedPermit.class);
    }

    /** The permits of a method, in the order of the annotations; empty if it is not limited. */
    static List<DeclaredPermit> of(Method method, Class<?> beanType) {
        Class<?> userType = ClassUtils.getUserClass(beanType);
        Method specific = AopUtils.getMostSpecificMethod(method, userType);
        List<DeclaredPermit> own = nearest(specific);
        if (own.isEmpty() && !specific.equals(method)) {
            own = nearest(method);
        }
        if (isExempt(specific) && own.stream().noneMatch(permit -> specific.equals(permit.method()))) {
            return List.of();
        }
        return own.isEmpty() ? ofType(specific, userType) : own;
    }

    private static boolean isExempt(Method method) {
        return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(DistributedPermit.Exempt.class);
    }

    private static List<DeclaredPermit> ofType(Method method, Class<?> type) {
        if (!Modifier.isPublic(method.getModifiers())
                || Modifier.isStatic(method.getModifiers())
                || method.isSynthetic()
                || method.getDeclaringClass() == Object.class
                || ReflectionUtils.isObjectMethod(method)) {
            return List.of();
        }
        List<DeclaredPermit> permits = nearest(type);
        return permits.stream().anyMatch(permit -> answers(method, permit, type)) ? List.of() : permits;
    }

    /** Whether a method of the type is the fallback of another one, and not merely an overload of the same name. */
    private static boolean answers(Method method, DeclaredPermit permit, Class<?> type) {
        String fallback = permit.annotation().fallback();
        return fallback.equals(method.getName())
                && Stream.of(ReflectionUtils.getUniqueDeclaredMethods(type))
                        .filter(limited -> !limited.equals(method) && Modifier.isPublic(limited.getModifiers()))
                        .map(limited -> Fallback.resolve(fallback, limited, type))
                        .anyMatch(answer -> answer != null && answer.method().equals(method));
    }

    private static List<DeclaredPermit> nearest(AnnotatedElement element) {
        List<MergedAnnotation<DistributedPermit>> found =
                MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY, CONTAINERS).stream(
                                DistributedPermit.class)
                        .toList();
        int distance = found.stream()
                .mapToInt(MergedAnnotation::getAggregateIndex)
                .min()
                .orElse(0);
        return found.stream()
                .filter(annotation -> annotation.getAggregateIndex() == distance)
                .map(annotation -> declared(annotation, element))
                .toList();
    }

    private static DeclaredPermit declared(MergedAnnotation<DistributedPermit> annotation, AnnotatedElement element) {
        Object place = annotation.getSource() == null ? element : annotation.getSource();
        if (place instanceof Method method) {
            return new DeclaredPermit(annotation.synthesize(), method.getDeclaringClass(), method);
        }
        return new DeclaredPermit(annotation.synthesize(), (Class<?>) place, null);
    }
}
