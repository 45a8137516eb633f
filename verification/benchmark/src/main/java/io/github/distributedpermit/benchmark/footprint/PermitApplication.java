package io.github.distributedpermit.benchmark.footprint;

import java.io.IOException;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The same application with the starter of this library, which limits its service. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class PermitApplication {

    /** Arguments: settings of the application. */
    public static void main(String[] args) throws IOException {
        Probe.run(PermitApplication.class, args);
    }

    @Bean
    LimitedWork work() {
        return new LimitedWork();
    }
}
