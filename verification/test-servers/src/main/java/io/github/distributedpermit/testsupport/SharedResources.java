package io.github.distributedpermit.testsupport;

import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import java.time.Duration;

/** One set of event loops for all clients of a test run. */
final class SharedResources {

    private static final ClientResources RESOURCES = DefaultClientResources.builder()
            .ioThreadPoolSize(2)
            .computationThreadPoolSize(2)
            .reconnectDelay(Delay.constant(Duration.ofMillis(50)))
            .build();

    private SharedResources() {}

    static ClientResources get() {
        return RESOURCES;
    }
}
