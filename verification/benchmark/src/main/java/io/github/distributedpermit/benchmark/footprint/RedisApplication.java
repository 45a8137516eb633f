package io.github.distributedpermit.benchmark.footprint;

import java.io.IOException;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A small application that uses Redis. This library is not on its class path. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class RedisApplication {

    /** Arguments: settings of the application. */
    public static void main(String[] args) throws IOException {
        Probe.run(RedisApplication.class, args);
    }

    @Bean
    Work work() {
        return new Work();
    }
}
