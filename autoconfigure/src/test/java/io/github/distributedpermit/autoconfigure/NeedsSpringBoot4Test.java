package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.distributedpermit.aop.InvalidPermitException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.core.io.support.SpringFactoriesLoader;

class NeedsSpringBoot4Test {

    @ParameterizedTest
    @ValueSource(strings = {"2.7.18", "3.5.8", "3.0.0-M1"})
    void olderOneIsRefused(String version) {
        assertThatThrownBy(() -> NeedsSpringBoot4.check(version))
                .isInstanceOf(InvalidPermitException.class)
                .hasMessage("distributed-permit needs Spring Boot 4.0 or later, and this application has " + version
                        + ". Upgrade Spring Boot, or remove the dependency distributed-permit-spring-boot-starter");
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"4.0.0", "4.1.1", "10.2.3"})
    void laterOneAndUnknownOneAreNot(String version) {
        assertThatCode(() -> NeedsSpringBoot4.check(version)).doesNotThrowAnyException();
    }

    /** Of both generations of Spring Boot, which find other extensions under different names. */
    @Test
    void applicationFindsTheCheck() {
        assertThat(SpringFactoriesLoader.forDefaultResourceLocation().load(ApplicationContextInitializer.class))
                .hasAtLeastOneElementOfType(NeedsSpringBoot4.class);
    }
}
