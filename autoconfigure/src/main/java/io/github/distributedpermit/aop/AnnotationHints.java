package io.github.distributedpermit.aop;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.DistributedPermits;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Has a native image contain what reading the annotations and evaluating keys needs, whatever the beans are. */
final class AnnotationHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        for (Class<?> annotation :
                List.of(DistributedPermit.class, DistributedPermits.class, DistributedPermit.Exempt.class)) {
            hints.reflection().registerType(annotation, MemberCategory.INVOKE_PUBLIC_METHODS);
            hints.proxies().registerJdkProxy(annotation); // a composed annotation is read as one
        }
        hints.reflection().registerType(KeyContexts.KeyRoot.class, MemberCategory.INVOKE_PUBLIC_METHODS);
    }
}
