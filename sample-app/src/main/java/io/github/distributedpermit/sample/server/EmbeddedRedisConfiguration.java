package io.github.distributedpermit.sample.server;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/** Connects the application to the shared server, unless the user named one of his own. */
@Configuration(proxyBeanMethods = false)
@Conditional(NoRedisOfOnesOwn.class)
class EmbeddedRedisConfiguration {

    @Bean
    SharedServer embeddedRedis(@Value("${sample.embedded-redis.port}") int port) {
        return new SharedServer(new RedisKind(), port, () -> {});
    }

    // takes the server as an argument, so that every connection is closed before this instance lets go of the server
    @Bean
    DataRedisConnectionDetails embeddedRedisConnectionDetails(SharedServer server) {
        return new DataRedisConnectionDetails() {
            @Override
            public Standalone getStandalone() {
                return Standalone.of(ServerKind.HOST, server.port());
            }
        };
    }
}
