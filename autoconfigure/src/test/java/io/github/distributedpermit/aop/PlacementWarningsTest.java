package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.DistributedPermit;
import jakarta.annotation.PostConstruct;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** What the log says of annotations in places where calls do not pass the proxy. */
@ExtendWith(OutputCaptureExtension.class)
class PlacementWarningsTest {

    private static final String SELF = "calls of it through 'this' in ";

    @Test
    void callThroughThisIsWarnedAboutOnce(CapturedOutput output) {
        local().withBean("one", CallsItself.class)
                .withBean("two", CallsItself.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output.getOut().split(SELF, -1)).hasSize(2);
        assertThat(output)
                .contains("@DistributedPermit on limited(long) in " + CallsItself.class.getName())
                .contains(SELF + "direct, later, reference of the same class take no permit");
    }

    @Test
    void callThroughTheProxyOrFromALimitedMethodIsNotWarnedAbout(CapturedOutput output) {
        local().withBean(CallsItsProxy.class)
                .withBean(AllLimited.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).doesNotContain(SELF);
    }

    @Test
    void callbackOfTheContainerIsWarnedAbout(CapturedOutput output) {
        local().withBean(Callback.class).run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .contains("@DistributedPermit on start() in " + Callback.class.getName())
                .contains("@PostConstruct")
                .contains("ApplicationReadyEvent");
    }

    @Test
    void beanMethodAndMethodOfAConfigurationAreWarnedAbout(CapturedOutput output) {
        local().withUserConfiguration(Config.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .contains("@DistributedPermit on callable() in " + Config.class.getName()
                        + ": it limits at most the creation of the bean")
                .contains("@DistributedPermit on work() in " + Config.class.getName()
                        + ": the class is a @Configuration class");
    }

    static class CallsItself {
        @DistributedPermit(limit = 1)
        public void limited(long id) {}

        public void direct() {
            limited(1);
        }

        public Runnable later() {
            return () -> limited(2);
        }

        public Function<Long, @Nullable Void> reference() {
            return id -> {
                this.limited(id);
                return null;
            };
        }
    }

    static class CallsItsProxy {
        private final ObjectProvider<CallsItsProxy> provider;
        private final CallsItsProxy self;

        CallsItsProxy(ObjectProvider<CallsItsProxy> provider, @Lazy CallsItsProxy self) {
            this.provider = provider;
            this.self = self;
        }

        @DistributedPermit(limit = 1)
        public void limited(long id) {}

        public void byField() {
            self.limited(1);
        }

        public void byProvider() {
            provider.getObject().limited(1);
        }

        public void ofAnother(CallsItsProxy other) {
            other.limited(1);
        }

        public void ofANewOne() {
            new CallsItsProxy(provider, self).limited(1);
        }
    }

    @DistributedPermit(limit = 1)
    static class AllLimited {
        public void one() {
            two();
        }

        public void two() {
            Runnable again = this::one;
            again.run();
        }
    }

    static class Callback {
        @PostConstruct
        @DistributedPermit(limit = 1)
        public void start() {}
    }

    @Configuration
    static class Config {
        @Bean
        @DistributedPermit(limit = 1)
        public Runnable callable() {
            return () -> {};
        }

        @DistributedPermit(limit = 1)
        public void work() {}
    }
}
