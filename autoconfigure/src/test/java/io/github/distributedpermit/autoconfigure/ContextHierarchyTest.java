package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import org.junit.jupiter.api.Test;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.core.env.ConfigurableEnvironment;

/** Parent and child are both configured; the child has no permits of its own but those of its parent. */
class ContextHierarchyTest {

    @Test
    void childUsesThePermitsOfItsParent() {
        local().run(parent -> local().withParent(parent).withBean(Service.class).run(child -> {
            Permits permits = parent.getBean(Permits.class);
            assertThat(child.getBean(Permits.class)).isSameAs(permits);
            Service service = child.getBean(Service.class);
            assertThat(service.export()).isEqualTo("done");
            try (Permit all = permits.acquire("export")) {
                assertThat(all.isHeld()).isTrue();
                assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(service::export);
            }
            assertThat(service.export()).isEqualTo("done");
        }));
    }

    @Test
    void childThatClosesLeavesThePermitsOfItsParentAlone() {
        local().withBean(Service.class).run(parent -> {
            local().withParent(parent)
                    .withBean(Service.class)
                    .run(child ->
                            assertThat(child.getBean(Service.class).export()).isEqualTo("done"));
            assertThat(parent.getBean(Permits.class).tryAcquire("export")).hasValueSatisfying(Permit::release);
            assertThat(parent.getBean(Service.class).export()).isEqualTo("done");
        });
    }

    @Test
    void annotatedMethodsOfAChildFollowTheSettingsOfItsParent() {
        local().run(parent -> local().withParent(parent).withBean(Service.class).run(child -> {
            Service service = child.getBean(Service.class);
            assertThat(service.export()).isEqualTo("done");
            set(parent.getEnvironment(), "distributed-permit.permits.export.on-reject=skip");
            assertThat(parent.getBean(PermitSettingsRefresh.class).refresh()).isTrue();
            try (Permit all = parent.getBean(Permits.class).acquire("export")) {
                assertThat(service.export()).isNull();
                assertThat(all.isHeld()).isTrue();
            }
        }));
    }

    @Test
    void annotatedMethodsOfALazyApplicationFollowChangedSettings() {
        local().withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .withBean(Service.class)
                .run(context -> {
                    Service service = context.getBean(Service.class);
                    assertThat(service.export()).isEqualTo("done");
                    set(context.getEnvironment(), "distributed-permit.permits.export.on-reject=skip");
                    assertThat(context.getBean(PermitSettingsRefresh.class).refresh())
                            .isTrue();
                    try (Permit all = context.getBean(Permits.class).acquire("export")) {
                        assertThat(service.export()).isNull();
                        assertThat(all.isHeld()).isTrue();
                    }
                });
    }

    static class Service {
        @DistributedPermit(key = "export", name = "export", limit = 1, block = false)
        public String export() {
            return "done";
        }
    }

    private static void set(ConfigurableEnvironment environment, String property) {
        TestPropertyValues.of(property).applyTo(environment);
    }
}
