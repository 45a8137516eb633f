package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.aop.InvalidPermitException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringBootVersion;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Stops an application on Spring Boot 3 before a method that only Spring Boot 4 has is missing somewhere. So this class uses nothing
 * that is new in Spring Boot 4.
 */
final class NeedsSpringBoot4 implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        check(SpringBootVersion.getVersion());
    }

    /** @param version {@code null} if the class path does not tell it */
    static void check(@Nullable String version) {
        if (version != null && version.matches("[123]\\..*")) {
            throw new OlderSpringBoot(version);
        }
    }

    private static final class OlderSpringBoot extends InvalidPermitException {

        private static final long serialVersionUID = 1L;

        OlderSpringBoot(String version) {
            super(
                    "distributed-permit needs Spring Boot 4.0 or later, and this application has " + version,
                    "Upgrade Spring Boot, or remove the dependency distributed-permit-spring-boot-starter");
        }
    }
}
