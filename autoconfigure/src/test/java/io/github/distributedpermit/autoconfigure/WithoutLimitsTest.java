package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.PermitState;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.core.engine.PermitEngine;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** {@code distributed-permit.enabled=false}, for applications whose beans inject {@link Permits}. */
@ExtendWith(OutputCaptureExtension.class)
class WithoutLimitsTest {

    private final ApplicationContextRunner disabled = Starts.plain()
            .withConfiguration(AutoConfigurations.of(DistributedPermitDisabledAutoConfiguration.class))
            .withPropertyValues("distributed-permit.enabled=false");

    @Test
    void beanThatInjectsPermitsStartsAndHasEveryPermitAtOnce(CapturedOutput output) {
        disabled.withBean(Export.class).run(context -> {
            Export export = context.getBean(Export.class);
            assertThat(export.annotatedInAnnotated()).isEqualTo("done");
            assertThat(export.inCodeTwice()).isEqualTo("done");
            assertThat(output).containsOnlyOnce("distributed-permit.enabled is false: no call is limited");
        });
    }

    @Test
    void anythingButTrueDisables() {
        disabled.withPropertyValues("distributed-permit.enabled=off")
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(Permits.class));
    }

    @Test
    void enabledPermitsAreLimited() {
        disabled.withPropertyValues("distributed-permit.enabled=true", "distributed-permit.backend=local")
                .run(context -> assertThat(context).hasSingleBean(PermitEngine.class));
    }

    @Test
    void permitsWithoutLimitBehaveAsPermits() {
        disabled.run(context -> {
            Permits permits = context.getBean(Permits.class);
            Permit permit = permits.named("any")
                    .acquire(PermitRequest.builder("key").permits(2).build());
            assertThat(List.of(permit.name(), permit.key(), permit.permits())).isEqualTo(List.of("any", "key", 2));
            assertThat(permit.isHeld()).isTrue();
            assertThat(permit.token()).isEqualTo(permit.token());
            assertThat(permit.release()).isTrue();
            assertThat(permit.release()).isFalse();
            assertThat(permit.isHeld()).isFalse();
            assertThat(permits.acquireAsync("any").join().isHeld()).isTrue();
            assertThat(permits.named("any")
                            .acquireUninterruptibly(PermitRequest.of("any"))
                            .isHeld())
                    .isTrue();
            assertThat(permits.tryAcquire("any")).isPresent();
            assertThat(permits.<Optional<Permit>>supply("any", Permits::current))
                    .isPresent();
            assertThat(permits.state("any")).extracting(PermitState::available).isNotEqualTo(0);
        });
    }

    @Test
    void whatIsRefusedWithLimitsIsRefusedWithoutThem() {
        disabled.run(context -> {
            Permits permits = context.getBean(Permits.class);
            assertThatIllegalArgumentException().isThrownBy(() -> permits.named(" "));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> permits.named("any").acquire(" "));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> permits.named("any").stateAsync(" "));
        });
    }

    @Test
    void ownPermitsOfTheApplicationWin() {
        Permits own = name -> {
            throw new UnsupportedOperationException(name);
        };
        disabled.withBean(Permits.class, () -> own)
                .run(context -> assertThat(context.getBean(Permits.class)).isSameAs(own));
    }

    static class Export {

        private final Permits permits;

        Export(Permits permits) {
            this.permits = permits;
        }

        @DistributedPermit(key = "export", limit = 1, block = false)
        public String annotated() {
            return "done";
        }

        public String annotatedInAnnotated() {
            return annotated();
        }

        public String inCodeTwice() throws InterruptedException {
            try (Permit one = permits.acquire("export");
                    Permit two = permits.acquire("export")) {
                return one.isHeld() && two.isHeld() ? "done" : "not held";
            }
        }
    }
}
