package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.endpoint.PermitsView.Change;
import io.github.distributedpermit.endpoint.PermitsView.Detail;
import io.github.distributedpermit.endpoint.PermitsView.Problem;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.Pause;
import io.github.distributedpermit.spi.PermitAccess;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.context.ApplicationEventPublisher;

/**
 * The actuator endpoint {@code permits}. Operations that change something exist only where the application's settings give the endpoint
 * more than Boot's read-only access, since whoever may reach them may stop every limited call of the fleet; each change is logged.
 * An answer takes as long as the store, two command time-outs at most. Thread-safe.
 */
@Endpoint(id = "permits", defaultAccess = Access.READ_ONLY)
public class PermitsEndpoint {

    private static final System.Logger LOG = System.getLogger(PermitsEndpoint.class.getName());

    private static final String READ_ONLY =
            "Changes are off, and answered with 405. management.endpoint.permits.access=unrestricted turns them on";

    private static final String MADE = "made";
    private static final String UNKNOWN = "unknown";

    private final PermitAccess permits;
    private final StoreAnswers answers;
    private final PermitsReader reader;
    private final PermitEvents events;
    private final ApplicationEventPublisher audit;
    private final boolean writable;

    /**
     * Creates the endpoint.
     *
     * @param timeout how long the store may take to answer
     * @param writable whether the application's settings let the operations be called that change something
     * @param events what this instance has seen
     * @param history what its calls did
     * @param audit publishes the audit events of Spring Boot
     */
    public PermitsEndpoint(
            PermitAccess permits,
            Duration timeout,
            boolean writable,
            PermitEvents events,
            PermitHistory history,
            ApplicationEventPublisher audit) {
        this.writable = writable;
        this.events = events;
        this.audit = audit;
        this.permits = permits;
        this.answers = new StoreAnswers(timeout);
        this.reader = new PermitsReader(permits, answers, writable ? null : READ_ONLY, history, Clock.systemUTC());
    }

    /** Whether the operations can be called that change something. */
    public boolean isWritable() {
        return writable;
    }

    /** All permits, with what the store has for the keys that this instance knows. */
    @ReadOperation
    public PermitsView permits() {
        return permits("");
    }

    /** Those permits whose names contain this text, in whatever case. */
    public PermitsView permits(String filter) {
        return reader.all(filter, events.latest());
    }

    /** The last events that this instance has seen, newest first. */
    public List<PermitsView.Event> events() {
        return events.latest();
    }

    /**
     * One permit in the whole fleet.
     *
     * @param name of the permit
     * @param key the one key to show; by default those that calls of this instance use
     * @param most how many keys to show, 20 by default
     * @param stack the call of this instance of which to show what its thread does now
     * @return {@code null} if no permit has the name
     */
    @ReadOperation
    public @Nullable Detail permit(
            @Selector String name, @Nullable String key, @Nullable Integer most, @Nullable Long stack) {
        int keys = most == null ? PermitsReader.USUAL_KEYS : most;
        if (keys < 1) {
            throw new InvalidEndpointRequestException(
                    "most is " + keys, "'most' has to be from 1 to " + PermitsReader.MOST_KEYS);
        }
        return permit(name, new Query(key, keys, PermitsReader.MOST_CALLS, stack == null ? 0 : stack));
    }

    /** One permit, with at most so many keys, and calls of each key. */
    public @Nullable Detail permit(String name, @Nullable String key, int keys, int calls) {
        return permit(name, new Query(key, keys, calls, 0));
    }

    /** Keys that the store has, at most so many, without those of the permit that this instance knows; {@code null} if no permit has the name. */
    PermitsView.@Nullable KeysInStore others(String name, int most) {
        if (most < 1) {
            throw new InvalidEndpointRequestException(
                    "others is " + most, "'others' has to be from 1 to " + PermitsReader.MOST_NAMES);
        }
        PermitDefinition definition = reader.find(name).orElse(null);
        if (definition == null) {
            return null;
        }
        try {
            return reader.others(
                    definition,
                    answers.of(() -> permits.keysInStore(Math.min(most, PermitsReader.MOST_NAMES)))
                            .join());
        } catch (CompletionException e) {
            throw new StoreUnavailableException(answers.problem(e), true);
        }
    }

    private @Nullable Detail permit(String name, Query query) {
        return reader.find(name)
                .map(definition -> reader.detail(definition, query))
                .orElse(null);
    }

    /**
     * Has this instance take no more permits: waiting and new calls are rejected, running calls go on. Only a restart ends that. Or pauses
     * all calls of a permit, or of this application in all instances, or ends that. One of the two.
     *
     * @param drain has to be {@code true}
     * @param member the id of this instance, so that no other one behind its address is drained; may be left out
     * @param pause {@code false} ends a pause
     * @param name of the permit; by default all of this application
     * @param reason why
     * @param lasts after this time the pause ends by itself; by default it does not
     */
    @WriteOperation
    public Map<String, Object> drain(
            @Nullable Boolean drain,
            @Nullable String member,
            @Nullable Boolean pause,
            @Nullable String name,
            @Nullable String reason,
            @Nullable String lasts) {
        Order order = Order.of(null, null, null, null, reason, lasts, null, null);
        return pause == null
                ? drain(String.valueOf(drain), member, order)
                : pause(String.valueOf(pause), drain == null ? null : drain.toString(), member, name, order);
    }

    /** Pauses all calls of the permit with this name, or of this application, or ends that. */
    Map<String, Object> pause(
            @Nullable String pause,
            @Nullable String drain,
            @Nullable String member,
            @Nullable String name,
            Order order) {
        boolean paused = "true".equals(pause);
        if (drain != null || member != null || !(paused || "false".equals(pause))) {
            throw new InvalidEndpointRequestException(
                    "pause is " + pause, "'pause' has to be true or false, without 'drain' and 'member'");
        }
        String application = permits.application()
                .orElseThrow(() -> new InvalidEndpointRequestException(
                        "no pauses", "Calls of this instance do not obey pauses; pause the keys"));
        if (name != null && paused) { // a pause can be ended wherever the name is not known any more
            PermitDefinition definition = permits.find(name)
                    .orElseThrow(() -> new InvalidEndpointRequestException(
                            "unknown name",
                            "No permit is named '%s'; GET without a name lists all of them".formatted(name)));
            if (definition.isUnlimited()) {
                throw new InvalidEndpointRequestException(
                        "no limit",
                        "Permit '%s' has no limit, so its calls do not ask the store, and cannot be paused"
                                .formatted(name));
            }
        }
        String target = name == null ? Pause.ofApplication(application) : Pause.ofName(name);
        if (!paused && look(target).override().isEmpty()) {
            throw new InvalidEndpointRequestException(
                    "no pause",
                    name == null
                            ? "Application '%s' is not paused".formatted(application)
                            : "Permit '%s' is not paused. Check the name".formatted(name));
        }
        OverrideLimit limit = paused ? OverrideLimit.of(0, by(order), order.reason()) : OverrideLimit.empty();
        make(
                () -> permits.pause(target, limit, order.lasts()),
                outcome -> audit(
                        paused ? "PAUSED" : "RESUMED",
                        name == null ? "" : name,
                        "",
                        order,
                        Map.of(
                                "application",
                                name == null ? application : "",
                                "lasts",
                                order.lasts().toString()),
                        outcome));
        if (!paused) {
            tell(
                    "limit",
                    "",
                    order,
                    "ended the pause of "
                            + (name == null ? "application '" + application : "permit '" + printable(name)) + "'");
        }
        Map<String, Object> answer =
                Map.of("paused", paused, name == null ? "application" : "name", name == null ? application : name);
        return OperationResponseBody.of(answer);
    }

    Map<String, Object> drain(@Nullable String drain, @Nullable String member, Order order) {
        if (!order.lasts().isZero()) {
            throw new InvalidEndpointRequestException(
                    "lasts with drain",
                    "A drain ends with a restart only: leave out 'lasts', or pause the application");
        }
        if (!"true".equals(drain)) {
            throw new InvalidEndpointRequestException(
                    "drain is not true", "'drain' has to be true; only a restart of the instance ends a drain");
        }
        String own = permits.member().id();
        if (member != null && !member.equals(own)) {
            throw new InvalidEndpointRequestException(
                    "another member",
                    "This instance is member '%s', and not '%s'. Send the request to that one".formatted(own, member));
        }
        LOG.log(
                System.Logger.Level.WARNING,
                "An operator%s drains this instance: it takes no more permits%s".formatted(who(order), why(order)));
        permits.drain();
        events.add("drain", "", "An operator" + who(order) + " drains this instance" + why(order), 1);
        audit("DRAINED", "", "", order, Map.of(), MADE);
        return OperationResponseBody.of(Map.of("draining", true));
    }

    /**
     * Sets the limit of a key for the whole fleet, or takes the permits of a key from a member, or from one call of this instance. One of these. A permit without a
     * limit is given none here, because its calls do not ask the store.
     *
     * @param name of the permit
     * @param key by default the one of all calls of the permit
     * @param limit 0 pauses
     * @param evict the id of the member
     * @param call the number of the call of this instance
     * @param reason why
     * @param lasts after this time the limit ends by itself, such as {@code 30m}; by default it does not. Alone it is for the limit that
     *     is set
     * @param create whether the key may be one that nothing uses yet
     * @return {@code null} if no permit has the name
     */
    @WriteOperation
    public @Nullable Change change(
            @Selector String name,
            @Nullable String key,
            @Nullable Integer limit,
            @Nullable String evict,
            @Nullable Long call,
            @Nullable String reason,
            @Nullable String lasts,
            @Nullable Boolean create) {
        return change(
                name,
                Order.of(
                        key,
                        limit == null ? null : limit.toString(),
                        evict,
                        call == null ? null : call.toString(),
                        reason,
                        lasts,
                        String.valueOf(create),
                        null));
    }

    @Nullable
    Change change(String name, Order order) {
        PermitDefinition definition = reader.find(name).orElse(null);
        if (definition == null) {
            return null;
        }
        String target = target(definition, order.key());
        Integer limit = order.limit();
        String evict = order.evict();
        Long call = order.call();
        long changes = Stream.of(limit, evict, call).filter(Objects::nonNull).count();
        if (changes == 0 && !order.lasts().isZero()) {
            return end(definition, target, order);
        }
        if (changes != 1) {
            throw new InvalidEndpointRequestException(
                    "limit, evict or call",
                    "Give one of 'limit', 'evict' and 'call', or 'lasts' alone for the end of a limit that is set; a DELETE lifts the limit");
        }
        if (limit != null) {
            return limit(definition, target, limit, order);
        }
        return evict != null
                ? evict(definition, target, evict, order)
                : take(definition, target, Objects.requireNonNull(call), order);
    }

    private Change limit(PermitDefinition definition, String target, int limit, Order order) {
        if (limit < 0 || limit > PermitDefinition.MAX_LIMIT) {
            throw new InvalidEndpointRequestException(
                    "limit is " + limit,
                    "'limit' has to be from 0, which pauses, to %d, not %d"
                            .formatted(PermitDefinition.MAX_LIMIT, limit));
        }
        if (definition.isUnlimited()) {
            throw new InvalidEndpointRequestException(
                    "no limit",
                    ("Permit '%s' has no limit, so its calls do not ask the store, and a limit set there would have no"
                                    + " effect. Set distributed-permit.permits.<name>.limit first")
                            .formatted(definition.name()));
        }
        if (!order.create() && !reader.isKnown(definition, target) && isUnused(look(target))) {
            throw new InvalidEndpointRequestException(
                    "unknown key",
                    "No instance uses key '%s' of permit '%s'. Check the key, or add \"create\": true to limit it before its first use"
                            .formatted(target, definition.name()));
        }
        OverrideLimit override = OverrideLimit.of(limit, by(order), order.reason());
        make(
                () -> permits.override(target, override, order.lasts()),
                outcome -> audit(
                        "LIMIT_SET",
                        definition.name(),
                        target,
                        order,
                        Map.of("limit", limit, "lasts", order.lasts().toString()),
                        outcome));
        return new Change(definition.name(), target, limit, null);
    }

    /** Who set the limit, since when and why stays. */
    private Change end(PermitDefinition definition, String target, Order order) {
        OverrideLimit set = look(target).override();
        if (set.isEmpty()) {
            throw new InvalidEndpointRequestException(
                    "no limit",
                    "No operator has set a limit for key '%s' of permit '%s', so it has no end: give a 'limit', too"
                            .formatted(target, definition.name()));
        }
        make(
                () -> permits.override(target, set, order.lasts()),
                outcome -> audit(
                        "LIMIT_SET",
                        definition.name(),
                        target,
                        order,
                        Map.of("limit", set.limit(), "lasts", order.lasts().toString()),
                        outcome));
        tell(
                "limit",
                target,
                order,
                "lets the limit of key '%s' end in %d s"
                        .formatted(printable(target), order.lasts().toSeconds()));
        return new Change(definition.name(), target, set.limit(), null);
    }

    private Change evict(PermitDefinition definition, String target, String member, Order order) {
        String name = look(target).members().stream()
                .filter(each -> each.member().equals(member))
                .map(each -> each.name()
                        .map(it -> "'%s' (id %s)".formatted(it, member))
                        .orElse(member))
                .findAny()
                .orElseThrow(() -> new InvalidEndpointRequestException(
                        "unknown member",
                        "No member '%s' has permits of key '%s' or waits for them; a GET of the permit shows the members"
                                .formatted(member, target)));
        String from = "member " + name;
        int taken = await(
                () -> permits.evict(target, member),
                outcome -> audit("TAKEN", definition.name(), target, order, Map.of("from", from), outcome));
        return taken(definition, target, taken, from, order);
    }

    /** Only this instance knows its calls, so it takes the permits itself, and its next claim returns them to the store. */
    private Change take(PermitDefinition definition, String target, long call, Order order) {
        int taken = permits.take(target, call);
        if (taken == 0) {
            throw new InvalidEndpointRequestException(
                    "unknown call",
                    "No call %d of this instance holds permits of key '%s' that the store has recorded; a GET of the permit shows the calls"
                            .formatted(call, target));
        }
        return taken(definition, target, taken, "call " + call + " of this instance", order);
    }

    private Change taken(PermitDefinition definition, String target, int taken, String from, Order order) {
        tell(
                "eviction",
                target,
                order,
                "took %d permit(s) of key '%s' from %s".formatted(taken, printable(target), printable(from)));
        audit("TAKEN", definition.name(), target, order, Map.of("from", from, "taken", taken), MADE);
        return new Change(definition.name(), target, null, taken);
    }

    /**
     * Lifts the limit that an operator has set for a key.
     *
     * @param name of the permit
     * @param key by default the one of all calls of the permit
     * @param reason why
     * @return {@code null} if no permit has the name
     */
    @DeleteOperation
    public @Nullable Change lift(@Selector String name, @Nullable String key, @Nullable String reason) {
        return lift(name, Order.of(key, null, null, null, reason, null, null, null));
    }

    @Nullable
    Change lift(String name, Order order) {
        PermitDefinition definition = reader.find(name).orElse(null);
        if (definition == null) {
            return null;
        }
        String target = target(definition, order.key());
        if (look(target).override().isEmpty()) {
            throw new InvalidEndpointRequestException(
                    "no limit",
                    "No operator has set a limit for key '%s' of permit '%s'. Check the key".formatted(target, name));
        }
        make(
                () -> permits.override(target, OverrideLimit.empty()),
                outcome -> audit("LIMIT_LIFTED", name, target, order, Map.of(), outcome));
        tell("limit", target, order, "lifted the limit of key '" + printable(target) + "'");
        return new Change(name, target, null, null);
    }

    private KeyState look(String key) {
        try {
            return answers.of(() -> permits.inspect(key)).join();
        } catch (CompletionException e) {
            throw new StoreUnavailableException("Nothing was changed: " + answers.problem(e), true);
        }
    }

    private static boolean isUnused(KeyState state) {
        return state.members().isEmpty() && state.override().isEmpty();
    }

    /** Who wants the change, and the instance that it came through: both are known to this instance alone. */
    private String by(Order order) {
        String who = order.by().isEmpty() ? "" : "by " + order.by() + " ";
        return who + "through " + permits.member().name();
    }

    private static String who(Order order) {
        return order.by().isEmpty() ? "" : " ('" + printable(order.by()) + "')";
    }

    private static String why(Order order) {
        return order.reason().isEmpty() ? "" : ", because: " + printable(order.reason());
    }

    /** What only this instance knows, since the store keeps no words of it: logs it, and keeps it as an event. */
    private void tell(String kind, String key, Order order, String what) {
        String text = "An operator" + who(order) + " " + what + why(order);
        LOG.log(System.Logger.Level.INFO, text);
        events.add(kind, key, text, 1);
    }

    /** A failure of whoever stores the event does not undo the change, so it is no failure of the request. */
    private void audit(String type, String name, String key, Order order, Map<String, Object> more, String outcome) {
        Map<String, Object> data = new LinkedHashMap<>(more);
        data.put("permit", name);
        data.put("key", key);
        data.put("reason", order.reason());
        if (outcome.equals(UNKNOWN)) {
            data.put("outcome", UNKNOWN);
        }
        try {
            audit.publishEvent(new AuditApplicationEvent(order.by(), "PERMITS_" + type, data));
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "A listener of the audit event PERMITS_" + type + " failed", e);
        }
    }

    private static String target(PermitDefinition definition, @Nullable String key) {
        String target = key == null ? definition.key() : key;
        if (target == null || target.isBlank()) {
            throw new InvalidEndpointRequestException(
                    "no key", "Permit '" + definition.name() + "' has no fixed key, each call states one: give 'key'");
        }
        return target;
    }

    private void make(Supplier<CompletionStage<Void>> change, Consumer<String> audit) {
        await(change, audit);
        audit.accept(MADE);
    }

    /** @param audit of a change that may have been made */
    private <T> T await(Supplier<CompletionStage<T>> question, Consumer<String> audit) {
        try {
            return answers.of(question).join();
        } catch (CompletionException e) {
            boolean refused =
                    PermitStoreException.causeOf(e) instanceof PermitStoreException store && store.isPermanent();
            if (!refused) {
                audit.accept(UNKNOWN);
            }
            throw new StoreUnavailableException(
                    (refused ? "The store refused the change: " : "") + answers.problem(e), refused);
        }
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
                    ? new Problem(String.valueOf(getMessage()), null)
                    : new Problem(
                            "It is unknown whether the change was made: %s. A GET of the permit shows the limit in force once the store answers"
                                    .formatted(getMessage()),
                            UNKNOWN);
        }
    }
}
