package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.endpoint.PermitsView.Change;
import io.github.distributedpermit.endpoint.PermitsView.Detail;
import io.github.distributedpermit.endpoint.PermitsView.Problem;
import io.github.distributedpermit.spi.PermitAccess;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * The actuator endpoint {@code permits}. Operations that change something exist only where the application's settings give the endpoint
 * more than Boot's read-only access, since whoever may reach them may stop every limited call of the fleet; each change is logged.
 * An answer takes as long as the store, at most one command time-out. Thread-safe.
 */
@Endpoint(id = "permits", defaultAccess = Access.READ_ONLY)
public class PermitsEndpoint {

    private static final System.Logger LOG = System.getLogger(PermitsEndpoint.class.getName());

    private final PermitAccess permits;
    private final StoreAnswers answers;
    private final PermitsReader reader;

    /**
     * Creates the endpoint.
     *
     * @param timeout how long the store may take to answer
     */
    public PermitsEndpoint(PermitAccess permits, Duration timeout) {
        this.permits = permits;
        this.answers = new StoreAnswers(timeout);
        this.reader = new PermitsReader(permits, answers, Clock.systemUTC());
    }

    /** The names of all permits, without a look into the store; at most a thousand. */
    public List<String> names() {
        return reader.names();
    }

    /** All permits, with the limits that the store has for the keys that this instance knows. */
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
        return reader.find(name)
                .map(definition -> reader.detail(definition, key, Math.min(keys, PermitsReader.MOST_KEYS)))
                .orElse(null);
    }

    /**
     * Has this instance take no more permits: waiting and new calls are rejected, running calls go on. Only a restart ends that.
     *
     * @param drain has to be {@code true}
     */
    @WriteOperation
    public Map<String, Object> drain(boolean drain) {
        if (!drain) {
            throw new InvalidEndpointRequestException(
                    "drain is false", "'drain' has to be true; only a restart of the instance ends a drain");
        }
        LOG.log(System.Logger.Level.WARNING, "An operator drains this instance: it takes no more permits");
        permits.drain();
        return OperationResponseBody.of(Map.of("draining", true));
    }

    /**
     * Sets the limit of a key for the whole fleet, or takes a member's permits of a key. One of the two. A permit without a
     * limit is given none here, because its calls do not ask the store.
     *
     * @param name of the permit
     * @param key by default the one of all calls of the permit
     * @param limit 0 pauses
     * @param evict the id of the member
     * @return {@code null} if no permit has the name
     */
    @WriteOperation
    public @Nullable Change change(
            @Selector String name, @Nullable String key, @Nullable Integer limit, @Nullable String evict) {
        PermitDefinition definition = reader.find(name).orElse(null);
        if (definition == null) {
            return null;
        }
        String target = target(definition, key);
        if ((limit == null) == (evict == null)) {
            throw new InvalidEndpointRequestException(
                    "limit or evict", "Give either 'limit' or 'evict'; a DELETE lifts the limit");
        }
        if (limit == null) {
            String member = String.valueOf(evict);
            int taken = await(() -> permits.evict(target, member));
            log("took %d permits from member %s of".formatted(taken, printable(member)), target);
            return new Change(name, target, null, taken);
        }
        if (limit < 0) {
            throw new InvalidEndpointRequestException(
                    "limit is " + limit, "'limit' has to be 0, which pauses, or more, not " + limit);
        }
        if (definition.isUnlimited()) {
            throw new InvalidEndpointRequestException(
                    "no limit",
                    ("Permit '%s' has no limit, so its calls do not ask the store, and a limit set there would have no"
                                    + " effect. Set distributed-permit.permits.<name>.limit first")
                            .formatted(definition.name()));
        }
        await(() -> permits.override(target, OptionalInt.of(limit)));
        log("set limit " + limit + " for", target);
        return new Change(name, target, limit, null);
    }

    /**
     * Lifts the limit that an operator has set for a key.
     *
     * @param name of the permit
     * @param key by default the one of all calls of the permit
     * @return {@code null} if no permit has the name
     */
    @DeleteOperation
    public @Nullable Change lift(@Selector String name, @Nullable String key) {
        PermitDefinition definition = reader.find(name).orElse(null);
        if (definition == null) {
            return null;
        }
        String target = target(definition, key);
        await(() -> permits.override(target, OptionalInt.empty()));
        log("lifted the limit of", target);
        return new Change(name, target, null, null);
    }

    private static String target(PermitDefinition definition, @Nullable String key) {
        String target = key == null ? definition.key() : key;
        if (target == null || target.isBlank()) {
            throw new InvalidEndpointRequestException(
                    "no key", "The key of permit '" + definition.name() + "' differs from call to call: give 'key'");
        }
        return target;
    }

    private <T> T await(Supplier<CompletionStage<T>> question) {
        try {
            return answers.of(question).join();
        } catch (CompletionException e) {
            boolean refused =
                    PermitStoreException.causeOf(e) instanceof PermitStoreException store && store.isPermanent();
            throw new StoreUnavailableException(answers.problem(e), refused);
        }
    }

    private static void log(String what, String key) {
        LOG.log(System.Logger.Level.INFO, "An operator " + what + " key '" + printable(key) + "'");
    }

    private static String printable(String text) {
        return text.length() > 200 ? "..." : text.replaceAll("\\p{Cntrl}", "?");
    }

    /** The store refused a change, or did not answer, so that it is unknown whether the change was made. */
    static final class StoreUnavailableException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final boolean refused;

        StoreUnavailableException(String message, boolean refused) {
            super(message);
            this.refused = refused;
        }

        Problem problem() {
            return refused
                    ? new Problem("The store refused the change: " + getMessage(), null)
                    : new Problem(
                            "It is unknown whether the change was made: %s. A GET of the permit shows the limit in force once the store answers"
                                    .formatted(getMessage()),
                            "unknown");
        }
    }
}
