package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.endpoint.PermitsView.Detail;
import io.github.distributedpermit.spi.PermitAccess;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * The actuator endpoint {@code permits} without the operations that change something; {@link PermitsControlEndpoint} has them.
 * An answer takes as long as the store, at most one command time-out. Thread-safe.
 */
@Endpoint(id = "permits")
public class PermitsEndpoint {

    private final PermitsReader reader;

    /**
     * Creates the endpoint.
     *
     * @param timeout how long the store may take to answer
     */
    public PermitsEndpoint(PermitAccess permits, Duration timeout) {
        this.reader = new PermitsReader(permits, new StoreAnswers(timeout), Clock.systemUTC());
    }

    /** All permits, as this instance knows them. */
    @ReadOperation
    public PermitsView permits() {
        return reader.all();
    }

    /**
     * One permit in the whole fleet.
     *
     * @param name of the permit
     * @param key the one key to show; by default those that calls of this instance use
     * @param most how many keys to show, 20 by default
     * @return {@code null} if no permit has the name
     */
    @ReadOperation
    public @Nullable Detail permit(@Selector String name, @Nullable String key, @Nullable Integer most) {
        int keys = most == null ? PermitsReader.USUAL_KEYS : most;
        if (keys < 1) {
            throw new InvalidEndpointRequestException(
                    "most is " + keys, "'most' has to be from 1 to " + PermitsReader.MOST_KEYS);
        }
        return find(name)
                .map(definition -> reader.detail(definition, key, Math.min(keys, PermitsReader.MOST_KEYS)))
                .orElse(null);
    }

    final Optional<PermitDefinition> find(String name) {
        return reader.find(name);
    }
}
