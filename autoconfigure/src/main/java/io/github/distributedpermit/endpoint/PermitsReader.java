package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.endpoint.KeyInspections.Inspected;
import io.github.distributedpermit.endpoint.PermitsView.Call;
import io.github.distributedpermit.endpoint.PermitsView.Detail;
import io.github.distributedpermit.endpoint.PermitsView.Fleet;
import io.github.distributedpermit.endpoint.PermitsView.Instance;
import io.github.distributedpermit.endpoint.PermitsView.Key;
import io.github.distributedpermit.endpoint.PermitsView.Lease;
import io.github.distributedpermit.endpoint.PermitsView.MemberRow;
import io.github.distributedpermit.endpoint.PermitsView.OperatorLimit;
import io.github.distributedpermit.endpoint.PermitsView.Paused;
import io.github.distributedpermit.endpoint.PermitsView.Store;
import io.github.distributedpermit.endpoint.PermitsView.Summary;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.CallView.Place;
import io.github.distributedpermit.spi.CallView.State;
import io.github.distributedpermit.spi.Caller;
import io.github.distributedpermit.spi.KeyList;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.Pause;
import io.github.distributedpermit.spi.PermitAccess;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.PermitGauges.LongestCall;
import io.github.distributedpermit.spi.StoreGauges;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Puts together what the endpoint answers. Each answer is bounded and says so if there is more. Thread-safe. */
final class PermitsReader {

    static final int MOST_NAMES = 1_000;
    static final int USUAL_KEYS = 20;
    static final int MOST_KEYS = 200;
    static final int MOST_MEMBERS = 500;
    static final int MOST_CALLS = 500;

    private static final int MOST_LEASES = 20;
    private static final int MOST_FRAMES = 100;
    private static final String PAUSE = "pause";

    /** Members of all keys of one answer, and calls. */
    static final int MOST_ROWS = 5_000;

    private final PermitAccess permits;
    private final KeyInspections inspections;
    private final @Nullable String changes;
    private final PermitHistory history;
    private final Clock clock;

    /** @param changes why there are none; {@code null} if they are on */
    PermitsReader(
            PermitAccess permits, StoreAnswers answers, @Nullable String changes, PermitHistory history, Clock clock) {
        this.permits = permits;
        this.changes = changes;
        this.history = history;
        this.inspections = new KeyInspections(permits, answers);
        this.clock = clock;
    }

    /**
     * Reads the keys that this instance knows, as many as fit into the time-out, so that a limit is that of the store. Of too many
     * names those that calls of this instance use are shown first. The pauses of a name are read before its keys, since its limit is
     * unknown without them.
     */
    PermitsView all(String filter, List<PermitsView.Event> events) {
        String part = filter.toLowerCase(Locale.ROOT);
        List<PermitDefinition> found = permits.definitions().stream()
                .filter(each -> each.name().toLowerCase(Locale.ROOT).contains(part))
                .toList();
        List<PermitDefinition> definitions = found.stream()
                .sorted(Comparator.comparing(this::isIdle).thenComparing(PermitDefinition::name))
                .limit(MOST_NAMES)
                .sorted(Comparator.comparing(PermitDefinition::name))
                .toList();
        Map<String, Set<String>> keys = new HashMap<>();
        Set<String> asked = new LinkedHashSet<>();
        Map<String, List<String>> pauses = new HashMap<>();
        int room = MOST_NAMES;
        for (PermitDefinition definition : definitions) {
            if (!definition.isUnlimited()) {
                List<String> before = permits.pauses(definition.name());
                pauses.put(definition.name(), before);
                asked.addAll(before);
                Set<String> own = keys(definition);
                keys.put(definition.name(), own);
                int size = asked.size();
                if (room > 0) {
                    asked.add(usualKey(definition));
                }
                own.stream()
                        .limit(Math.min(MOST_KEYS, Math.max(0, room + size - asked.size())))
                        .forEach(asked::add);
                room -= asked.size() - size;
            }
        }
        List<Inspected> inspected = inspections.of(List.copyOf(asked));
        Map<String, KeyState> states = states(inspected);
        List<Summary> summaries = definitions.stream()
                .map(each -> summary(
                        each,
                        keys.getOrDefault(each.name(), Set.of()),
                        pauses.getOrDefault(each.name(), List.of()),
                        states))
                .toList();
        return new PermitsView(
                store(inspected),
                instance(),
                permits.application().orElse(null),
                changes,
                summaries,
                found.size() > MOST_NAMES,
                problem(inspected),
                shortestLeases(states.values()),
                events);
    }

    /** An instance that hangs is among them. Empty in stores that keep members alive by a session. */
    private List<Lease> shortestLeases(Collection<KeyState> keys) {
        Map<String, Lease> shortest = new HashMap<>();
        keys.forEach(key -> key.members()
                .forEach(member -> member.leaseLeft()
                        .ifPresent(left -> shortest.merge(
                                member.member(),
                                new Lease(member.member(), name(member), key.key(), left.toMillis()),
                                (one, other) -> one.leaseLeftMillis() <= other.leaseLeftMillis() ? one : other))));
        return shortest.values().stream()
                .sorted(Comparator.comparingLong(Lease::leaseLeftMillis))
                .limit(MOST_LEASES)
                .toList();
    }

    private static @Nullable String problem(List<Inspected> inspected) {
        return inspected.stream()
                .map(Inspected::problem)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private static Map<String, KeyState> states(List<Inspected> inspected) {
        Map<String, KeyState> states = new HashMap<>();
        inspected.stream()
                .filter(key -> key.problem() == null)
                .forEach(key -> states.put(key.state().key(), key.state()));
        return states;
    }

    private boolean isIdle(PermitDefinition definition) {
        return permits.gauges(definition.name())
                .filter(calls -> calls.holders() > 0 || calls.waiters() > 0)
                .isEmpty();
    }

    private Store store(List<Inspected> inspected) {
        StoreGauges store = permits.status();
        Long took = inspected.stream()
                .filter(key -> key.problem() == null)
                .map(key -> TimeUnit.NANOSECONDS.toMillis(key.tookNanos()))
                .max(Comparator.naturalOrder())
                .orElse(null);
        Integer grace = store.inGrace() == 0 ? null : Integer.valueOf(store.inGrace());
        return new Store(
                store.backend(),
                store.address(),
                took,
                store.slow().map(Duration::toMillis).orElse(null),
                grace,
                grace == null
                        ? null
                        : store.graceLeft()
                                .map(left -> clock.instant().plus(left).truncatedTo(ChronoUnit.MILLIS))
                                .orElse(null));
    }

    /** @param pauses that may be in force; none for a permit without a limit, whose calls do not ask the store, so that nothing pauses them */
    private Summary summary(
            PermitDefinition definition, Set<String> keys, List<String> pauses, Map<String, KeyState> states) {
        Optional<PermitGauges> gauges = permits.gauges(definition.name());
        Map<String, OperatorLimit> overrides = new TreeMap<>();
        String usual = usualKey(definition);
        Stream.concat(keys.stream(), Stream.of(usual)).forEach(key -> {
            KeyState state = states.get(key);
            if (state != null) {
                OperatorLimit set = override(state);
                if (set != null) {
                    overrides.put(key, set);
                }
            }
        });
        OperatorLimit override = overrides.get(usual);
        Integer stated =
                definition.isLimitedPerCall() || definition.isUnlimited() ? null : Integer.valueOf(limit(definition));
        int waiting = gauges.map(PermitGauges::waiters).orElse(0);
        List<Paused> paused = paused(pauses, states);
        boolean known = definition.isUnlimited()
                || (states.containsKey(usual) && states.keySet().containsAll(pauses));
        Integer inForce = override != null ? Integer.valueOf(override.limit()) : stated;
        String source = source(definition, override != null);
        Duration average = history.averageHold(definition.name());
        return new Summary(
                definition.name(),
                definition.key(),
                paused != null ? Integer.valueOf(0) : known ? inForce : null,
                paused != null ? PAUSE : known ? source : null,
                stated,
                overrides.isEmpty() ? null : overrides,
                withKeys(definition, paused, overrides),
                definition.within(),
                gauges.map(PermitGauges::holders).orElse(0),
                waiting,
                gauges.map(PermitGauges::runningLost).orElse(0),
                gauges.flatMap(PermitGauges::longestHold)
                        .map(LongestCall::time)
                        .map(this::ago)
                        .orElse(null),
                gauges.flatMap(PermitGauges::shortestHold).map(this::ago).orElse(null),
                average == null ? null : average.toMillis(),
                history.rejectedLately(definition.name()),
                atIfKnown(history.sinceRejected(definition.name())),
                history.failedLately(definition.name()),
                atIfKnown(history.sinceFailed(definition.name())),
                fleet(definition, keys.isEmpty() ? Set.of(usual) : keys, states, waiting));
    }

    /** An operator's limit of 0 is a pause, too, except of a permit without a limit, whose calls do not ask the store. */
    private static @Nullable List<Paused> withKeys(
            PermitDefinition definition, @Nullable List<Paused> pauses, Map<String, OperatorLimit> overrides) {
        List<Paused> all = new ArrayList<>(pauses == null ? List.of() : pauses);
        overrides.forEach((key, set) -> {
            if (set.limit() == 0 && !definition.isUnlimited()) {
                all.add(new Paused("key '" + key + "'", key, set.since(), set.until(), set.by(), set.reason()));
            }
        });
        return all.isEmpty() ? null : all;
    }

    private static @Nullable List<Paused> paused(List<String> pauses, Map<String, KeyState> states) {
        List<Paused> paused = pauses.stream()
                .map(states::get)
                .filter(Objects::nonNull)
                .flatMap(state -> paused(state).stream())
                .toList();
        return paused.isEmpty() ? null : paused;
    }

    private static Optional<Paused> paused(KeyState pause) {
        OperatorLimit set = override(pause);
        return set == null || set.limit() != 0
                ? Optional.empty()
                : Pause.describe(pause.key())
                        .map(what -> new Paused(what, null, set.since(), set.until(), set.by(), set.reason()));
    }

    /**
     * The calls of this instance are counted here: the store knows of them as of its last claim, and of those of a paused permit not at all.
     * Unless not all of its keys were read: then all numbers are of those that were.
     *
     * @param waitingHere how many of them wait
     */
    private @Nullable Fleet fleet(
            PermitDefinition definition, Set<String> keys, Map<String, KeyState> states, int waitingHere) {
        List<KeyState> read =
                keys.stream().map(states::get).filter(Objects::nonNull).toList();
        if (read.isEmpty()) {
            return null;
        }
        int own = limit(definition);
        KeyState fullest = Collections.max(
                read,
                Comparator.comparingDouble((KeyState each) -> (double) each.used() / Math.max(1, each.limit(own)))
                        .thenComparing(PermitsReader::waiting));
        List<MemberState> queue =
                read.stream().flatMap(key -> key.queue().stream()).toList();
        Instant oldest = Stream.concat(
                        queue.stream().flatMap(each -> each.waited().stream()),
                        permits
                                .gauges(definition.name())
                                .flatMap(PermitGauges::longestWait)
                                .map(LongestCall::time)
                                .stream())
                .max(Comparator.naturalOrder())
                .map(this::ago)
                .orElse(null);
        boolean whole = read.size() == keys.size();
        int waiting = (whole ? waitingHere : 0)
                + queue.stream()
                        .filter(each -> !whole || !isSelf(each))
                        .mapToInt(MemberState::calls)
                        .sum();
        return new Fleet(
                read.size(),
                read.stream().mapToInt(KeyState::used).sum(),
                waiting,
                waiting == 0 ? null : oldest,
                queue.stream().anyMatch(each -> each.waited().isEmpty() && !isSelf(each)),
                fullest.key(),
                fullest.used(),
                fullest.limit(own),
                read.stream().anyMatch(key -> differing(definition, key) != null));
    }

    private static int waiting(KeyState key) {
        return key.members().stream().mapToInt(MemberState::calls).sum();
    }

    Optional<PermitDefinition> find(String name) {
        return permits.definitions().stream()
                .filter(definition -> definition.name().equals(name))
                .findFirst();
    }

    Detail detail(PermitDefinition definition, Query query) {
        String onlyKey = query.key();
        int most = Math.min(query.keys(), MOST_KEYS);
        TreeSet<String> keys = onlyKey == null ? keys(definition) : new TreeSet<>(List.of(onlyKey));
        List<String> asked = new ArrayList<>(keys.stream().limit(most).toList());
        String usual = usualKey(definition);
        boolean found = onlyKey == null && keys.size() < most && keys.add(usual);
        if (found) {
            asked.add(usual); // calls of other instances may use it
        }
        List<String> pauses = definition.isUnlimited() ? List.of() : permits.pauses(definition.name());
        asked.addAll(0, pauses);
        List<Inspected> all = inspections.of(asked);
        List<Inspected> first = all.subList(0, pauses.size());
        Summary summary = summary(definition, Set.of(), pauses, states(first));
        String problem = summary.paused() == null ? problem(first) : null; // no limit is known without the pauses
        List<Inspected> inspected = all.stream()
                .skip(pauses.size())
                .map(key -> problem == null || key.problem() != null
                        ? key
                        : Inspected.unknown(key.state().key(), problem, key.tookNanos()))
                .toList();
        Store store = store(inspected);
        Inspected last = inspected.get(inspected.size() - 1);
        boolean only = keys.size() == 1 && (last.problem() != null || definition.isUnlimited()); // no other one says so
        if (found && !only && isEmpty(last)) {
            keys.remove(usual);
            inspected = inspected.subList(0, inspected.size() - 1);
        }
        List<Key> shown = views(definition, summary.paused() != null, inspected, query);
        Map<String, OperatorLimit> overrides = new TreeMap<>();
        for (Key each : shown) {
            OperatorLimit set = each.override();
            if (set != null) {
                overrides.put(each.key(), set);
            }
        }
        boolean truncated = keys.size() > shown.size();
        String hint = truncated
                ? "%d of %d keys are shown; ask for one with ?key=..., or for up to %d with ?most=..."
                        .formatted(shown.size(), keys.size(), MOST_KEYS)
                : null;
        return new Detail(
                store,
                instance(),
                changes,
                definition.name(),
                summary.statedLimit(),
                withKeys(definition, summary.paused(), overrides),
                summary.within(),
                summary.holding(),
                summary.waiting(),
                summary.runningLost(),
                summary.averageHoldMillis(),
                keys.size(),
                shown,
                truncated,
                hint,
                problem,
                history.of(definition.name()));
    }

    /** The key of all calls; of a permit without one the key that its calls have unless they name another. */
    private static String usualKey(PermitDefinition definition) {
        String key = definition.key();
        return key == null ? definition.name() : key;
    }

    private static boolean isEmpty(Inspected key) {
        return key.state().members().isEmpty() && key.state().override().isEmpty();
    }

    /** The keys of the store that this instance does not know as those of the permit. */
    PermitsView.KeysInStore others(PermitDefinition definition, KeyList all) {
        Set<String> own = keys(definition);
        return new PermitsView.KeysInStore(
                all.keys().stream().filter(key -> !own.contains(key)).sorted().toList(), all.more());
    }

    /** The key of all calls, and those of the calls at the moment. */
    private TreeSet<String> keys(PermitDefinition definition) {
        TreeSet<String> keys = new TreeSet<>();
        if (definition.key() != null) {
            keys.add(definition.key());
        }
        keys.addAll(permits.keysInUse(definition.name()));
        return keys;
    }

    private List<Key> views(PermitDefinition definition, boolean paused, List<Inspected> keys, Query query) {
        int mostCalls = Math.min(query.calls(), MOST_CALLS);
        List<Key> views = new ArrayList<>();
        int members = MOST_ROWS;
        int calls = MOST_ROWS;
        for (Inspected each : keys) {
            Key view = view(
                    definition,
                    paused,
                    each,
                    Math.min(members, MOST_MEMBERS),
                    Math.min(calls, mostCalls),
                    query.stack());
            members -= view.members().size();
            calls -= view.calls().size();
            views.add(view);
        }
        return views;
    }

    private Key view(
            PermitDefinition definition, boolean paused, Inspected key, int mostMembers, int mostCalls, long stack) {
        KeyState state = key.state();
        List<CallView> calls = permits.calls(state.key(), MOST_ROWS + 1); // to count those that wait
        List<MemberRow> rows = new ArrayList<>();
        int position = 0;
        int waiting = 0;
        boolean known = key.problem() == null;
        if (state.members().stream().noneMatch(this::isSelf)) {
            waiting = waiting(calls); // the calls of a paused permit ask the store for nothing
        }
        for (MemberState member : state.members()) {
            position += member.waiting() ? 1 : 0;
            MemberRow row = row(member, position, calls);
            waiting += row.waiting();
            if (rows.size() < mostMembers) {
                rows.add(row);
            }
        }
        return new Key(
                state.key(),
                known && !definition.isUnlimited()
                        ? Integer.valueOf(paused ? 0 : state.limit(limit(definition)))
                        : null,
                known || definition.isUnlimited()
                        ? paused ? PAUSE : source(definition, state.override().isPresent())
                        : null,
                override(state),
                differing(definition, state),
                known ? Integer.valueOf(state.used()) : null,
                known ? Integer.valueOf(position) : null,
                known ? Integer.valueOf(waiting) : null,
                rows,
                state.members().size() > rows.size(),
                calls.stream().limit(mostCalls).map(call -> call(call, stack)).toList(),
                calls.size() > mostCalls,
                calls.size() > MOST_ROWS
                        ? null
                        : calls.stream()
                                .filter(call -> call.is(State.HOLDING))
                                .map(CallView::age)
                                .min(Comparator.naturalOrder())
                                .map(this::ago)
                                .orElse(null),
                key.problem());
    }

    /** Whether this instance knows that the key is one of the permit. */
    boolean isKnown(PermitDefinition definition, String key) {
        return key.equals(usualKey(definition)) || keys(definition).contains(key);
    }

    private static @Nullable OperatorLimit override(KeyState state) {
        OverrideLimit set = state.override();
        return set.isEmpty()
                ? null
                : new OperatorLimit(
                        set.limit(),
                        set.setAt().orElse(null),
                        set.endsAt().orElse(null),
                        set.by().isEmpty() ? null : set.by(),
                        set.reason().isEmpty() ? null : set.reason());
    }

    /** The store has the limit of this instance only while its calls hold permits or wait, so that of a declared key is added. */
    private @Nullable Map<Integer, Integer> differing(PermitDefinition definition, KeyState key) {
        Map<Integer, Integer> limits = new TreeMap<>();
        key.members().forEach(member -> limits.merge(member.limit(), 1, Integer::sum));
        boolean stated =
                key.key().equals(definition.key()) && !definition.isLimitedPerCall() && !definition.isUnlimited();
        if (stated && !limits.isEmpty() && key.members().stream().noneMatch(this::isSelf)) {
            limits.merge(limit(definition), 1, Integer::sum);
        }
        return limits.size() > 1 ? limits : null;
    }

    private boolean isSelf(MemberState member) {
        return member.member().equals(permits.member().id());
    }

    private @Nullable String name(MemberState member) {
        return isSelf(member) ? permits.member().name() : member.name().orElse(null);
    }

    private MemberRow row(MemberState member, int position, List<CallView> calls) {
        boolean self = isSelf(member);
        return new MemberRow(
                member.member(),
                name(member),
                self,
                member.permits(),
                member.wanted(),
                self && calls.size() <= MOST_ROWS ? waiting(calls) : member.calls(),
                member.limit(),
                member.waiting() ? position : null,
                member.waited().map(this::ago).orElse(null),
                member.leaseLeft().map(Duration::toMillis).orElse(null));
    }

    private static int waiting(List<CallView> calls) {
        return (int) calls.stream().filter(call -> call.is(State.WAITING)).count();
    }

    private Call call(CallView call, long stack) {
        Caller caller = call.caller().orElse(null);
        if (caller == null) {
            return new Call(null, state(call), call.permits(), ago(call.age()), null, null, null, null, null);
        }
        return new Call(
                caller.call(),
                state(call),
                call.permits(),
                ago(call.age()),
                caller.method().orElse(null),
                caller.threadName(),
                call.place() == Place.UNKNOWN ? null : Boolean.valueOf(call.place() == Place.ON_THREAD),
                caller.traceId().orElse(null),
                caller.call() == stack ? stack(call, caller) : null);
    }

    private static String state(CallView call) {
        return call.state().name().toLowerCase(Locale.ROOT);
    }

    /** That of the thread, if it is within the call before and after it was taken: otherwise it may be one of another call. */
    private @Nullable List<String> stack(CallView call, Caller caller) {
        if (call.place() != Place.ON_THREAD) {
            return null;
        }
        List<String> stack = Stream.of(caller.thread().getStackTrace())
                .limit(MOST_FRAMES)
                .map(frame -> frame.toString().replaceFirst("^[^(]*/", "")) // without loader and module
                .toList();
        boolean still = permits.calls(call.key(), MOST_ROWS + 1).stream()
                .anyMatch(now -> now.place() == Place.ON_THREAD
                        && now.caller()
                                .filter(same -> same.call() == caller.call())
                                .isPresent());
        return still ? stack : null;
    }

    private @Nullable Instant atIfKnown(@Nullable Duration age) {
        return age == null ? null : ago(age);
    }

    private Instant ago(Duration age) {
        return clock.instant().minus(age).truncatedTo(ChronoUnit.MILLIS);
    }

    private Instance instance() {
        return new Instance(
                permits.member().id(), permits.member().name(), permits.status().isDrained());
    }

    private static int limit(PermitDefinition definition) {
        Integer limit = definition.limit();
        return limit == null ? 0 : limit;
    }

    private String source(PermitDefinition definition, boolean overridden) {
        if (definition.isUnlimited()) {
            return "none"; // its calls do not ask the store, which has an operator's limit
        }
        return overridden ? "override" : permits.isLimitFromSettings(definition.name()) ? "settings" : "annotation";
    }
}
