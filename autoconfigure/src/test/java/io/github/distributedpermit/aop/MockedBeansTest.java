package io.github.distributedpermit.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

/** A bean that a test replaces by a mock is not limited, and is not meant to be. */
@ExtendWith(OutputCaptureExtension.class)
@SpringJUnitConfig
@TestPropertySource(properties = "distributed-permit.backend=local")
class MockedBeansTest {

    @MockitoBean
    Service mocked;

    @Test
    void mockIsNotWarnedAbout(@Autowired Service service, CapturedOutput output) {
        assertThat(AopUtils.isAopProxy(mocked)).isFalse();
        assertThat(output).doesNotContain("NOT limited");
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({AopAutoConfiguration.class, DistributedPermitAutoConfiguration.class})
    static class Application {

        @Bean
        Service mocked() {
            return new Service();
        }
    }

    static class Service {

        @DistributedPermit(key = "mocked", limit = 1)
        public void call() {}
    }
}
