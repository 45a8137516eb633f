package io.github.distributedpermit.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.DistributedPermit;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.core.annotation.AliasFor;
import org.springframework.util.ReflectionUtils;

class PermitAnnotationsTest {

    @Test
    void methodItselfIsFound() {
        assertThat(keys(OnMethod.class, "call")).containsExactly("method");
    }

    @Test
    void overriddenMethodIsFound() {
        assertThat(keys(Overriding.class, "call")).containsExactly("method");
    }

    @Test
    void overrideWithItsOwnAnnotationReplacesTheInheritedOne() {
        assertThat(keys(Replacing.class, "call")).containsExactly("other");
    }

    @Test
    void interfaceMethodIsFound() {
        assertThat(keys(Implementing.class, "call")).containsExactly("interface");
    }

    @Test
    void genericInterfaceMethodIsFoundThroughTheBridge() {
        assertThat(keys(GenericImplementing.class, "call")).containsExactly("generic");
    }

    @Test
    void typeIsFoundForPublicMethodsOnly() {
        assertThat(keys(OnType.class, "call")).containsExactly("type");
        assertThat(keys(OnType.class, "helper")).isEmpty();
        assertThat(keys(OnType.class, "toString")).isEmpty();
        assertThat(keys(OnType.class, "create")).isEmpty();
    }

    @Test
    void superTypeIsFound() {
        assertThat(keys(SubType.class, "call")).containsExactly("type");
        assertThat(keys(SubType.class, "more")).containsExactly("type");
    }

    @Test
    void interfaceTypeIsFound() {
        assertThat(keys(OfLimitedInterface.class, "call")).containsExactly("interface-type");
    }

    @Test
    void methodWinsOverItsType() {
        assertThat(keys(OnBoth.class, "call")).containsExactly("method");
        assertThat(keys(OnBoth.class, "other")).containsExactly("type");
    }

    @Test
    void fallbackOfATypeIsNotLimited() {
        assertThat(keys(TypeWithFallback.class, "call")).containsExactly("type");
        assertThat(keys(TypeWithFallback.class, "instead")).isEmpty();
    }

    @Test
    void composedAnnotationPassesItsAttributesOn() {
        List<DeclaredPermit> found = find(Composed.class, "call");
        assertThat(found).hasSize(1);
        assertThat(found.get(0).annotation().key()).isEqualTo("composed");
        assertThat(found.get(0).annotation().limit()).isEqualTo(7);
    }

    @Test
    void severalAreFoundInTheOrderWritten() {
        assertThat(keys(Several.class, "call")).containsExactly("first", "second", "third");
        assertThat(keys(Several.class, "inContainer")).containsExactly("a", "b");
    }

    @Test
    void namesTellWhereTheAnnotationStands() {
        DeclaredPermit onMethod = find(Overriding.class, "call").get(0);
        assertThat(onMethod.shortName()).isEqualTo("PermitAnnotationsTest.OnMethod.call");
        assertThat(onMethod.fullName()).isEqualTo(OnMethod.class.getName() + ".call(long,java.lang.String[])");
        DeclaredPermit onType = find(SubType.class, "more").get(0);
        assertThat(onType.shortName()).isEqualTo("PermitAnnotationsTest.OnType");
        assertThat(onType.fullName()).isEqualTo(OnType.class.getName());
    }

    private static List<String> keys(Class<?> type, String method) {
        return find(type, method).stream()
                .map(permit -> permit.annotation().key())
                .toList();
    }

    private static List<DeclaredPermit> find(Class<?> type, String name) {
        return List.of(ReflectionUtils.getUniqueDeclaredMethods(type)).stream()
                .filter(method -> method.getName().equals(name) && !method.isBridge())
                .map(method -> PermitAnnotations.of(method, type))
                .findFirst()
                .orElseThrow();
    }

    static class OnMethod {
        @DistributedPermit(key = "method")
        public void call(long id, String... more) {}
    }

    static class Overriding extends OnMethod {
        @Override
        public void call(long id, String... more) {}
    }

    static class Replacing extends OnMethod {
        @Override
        @DistributedPermit(key = "other")
        public void call(long id, String... more) {}
    }

    interface Api {
        @DistributedPermit(key = "interface")
        void call();
    }

    static class Implementing implements Api {
        @Override
        public void call() {}
    }

    interface GenericApi<T> {
        @DistributedPermit(key = "generic")
        void call(T value);
    }

    static class GenericImplementing implements GenericApi<String> {
        @Override
        public void call(String value) {}
    }

    @DistributedPermit(key = "type")
    static class OnType {
        public static OnType create() {
            return new OnType();
        }

        public void call() {}

        void helper() {}

        @Override
        public String toString() {
            return "text";
        }
    }

    static class SubType extends OnType {
        public void more() {}
    }

    @DistributedPermit(key = "interface-type")
    interface LimitedApi {
        void call();
    }

    static class OfLimitedInterface implements LimitedApi {
        @Override
        public void call() {}
    }

    @DistributedPermit(key = "type")
    static class OnBoth {
        @DistributedPermit(key = "method")
        public void call() {}

        public void other() {}
    }

    @DistributedPermit(key = "type", fallback = "instead")
    static class TypeWithFallback {
        public void call() {}

        public void instead() {}
    }

    @Retention(RetentionPolicy.RUNTIME)
    @DistributedPermit(key = "composed")
    @interface SevenAtATime {
        @AliasFor(annotation = DistributedPermit.class)
        int limit() default 7;
    }

    static class Composed {
        @SevenAtATime
        public void call() {}
    }

    static class Several {
        @DistributedPermit(key = "first")
        @DistributedPermit(key = "second")
        @DistributedPermit(key = "third")
        public void call() {}

        @io.github.distributedpermit.DistributedPermits({@DistributedPermit(key = "a"), @DistributedPermit(key = "b")})
        public void inContainer() {}
    }
}
