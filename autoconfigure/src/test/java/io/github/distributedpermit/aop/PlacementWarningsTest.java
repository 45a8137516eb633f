package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.DistributedPermit;
import jakarta.annotation.PostConstruct;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What the log says of annotations in places where calls do not pass the proxy. */
@ExtendWith(OutputCaptureExtension.class)
class PlacementWarningsTest {

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
