package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.endpoint.KeyInspections.Inspected;
import io.github.distributedpermit.endpoint.PermitsView.Call;
import io.github.distributedpermit.endpoint.PermitsView.Detail;
import io.github.distributedpermit.endpoint.PermitsView.Instance;
import io.github.distributedpermit.endpoint.PermitsView.Key;
import io.github.distributedpermit.endpoint.PermitsView.MemberRow;
import io.github.distributedpermit.endpoint.PermitsView.OperatorLimit;
import io.github.distributedpermit.endpoint.PermitsView.Store;
import io.github.distributedpermit.endpoint.PermitsView.Summary;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.CallView.State;
import io.github.distributedpermit.spi.Caller;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitAccess;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.StoreGauges;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Puts together what the endpoint answers. Each answer is bounded and says so if there is more. Thread-safe. */
final class PermitsReader {

    static final int MOST_NAMES = 1_000;
    static final int USUAL_KEYS = 20;
    static final int MOST_KEYS = 200;
    static final int MOST_MEMBERS = 500;
    static final int MOST_CALLS = 500;

    /** Members of all keys of one answer, and calls. */
    static final int MOST_ROWS = 5_000;

    private final PermitAccess permits;
    private final KeyInspections inspections;
    private final Clock clock;

    PermitsReader(PermitAccess permits, StoreAnswers answers, Clock clock) {
        this.permits = permits;
        this.inspections = new KeyInspections(permits, answers);
        this.clock = clock;
    }

    /** Reads the keys that this instance knows, as many as fit into the time-out, so that a limit is that of the store. */
    PermitsView all(List<PermitsView.Event> events) {
        List<PermitDefinition> definitions = definitions();
        Map<String, Set<String>> keys = new HashMap<>();
        TreeSet<String> asked = new TreeSet<>();
        for (PermitDefinition definition : definitions) {
            if (!definition.isUnlimited()) {
                Set<String> own = keys(definition);
                keys.put(definition.name(), own);
                if (asked.size() < MOST_NAMES) {
                    asked.add(usualKey(definition));
                }
                own.stream()
                        .limit(Math.min(MOST_KEYS, Math.max(0, MOST_NAMES - asked.size())))
                        .forEach(asked::add);
            }
        }
        List<Inspected> inspected = inspections.of(List.copyOf(asked));
        Map<String, KeyState> states = new HashMap<>();
        inspected.stream()
                .filter(key -> key.problem() == null)
                .forEach(key -> states.put(key.state().key(), key.state()));
        List<Summary> summaries = definitions.stream()
                .map(each -> summary(each, keys.getOrDefault(each.name(), Set.of()), states))
                .toList();
        return new PermitsView(
                store(),
                instance(),
                summaries,
                permits.definitions().size() > MOST_NAMES,
                inspected.stream()
                        .map(Inspected::problem)
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null),
                events);
    }

    List<String> names() {
        return definitions().stream().map(PermitDefinition::name).toList();
    }

    private List<PermitDefinition> definitions() {
        return permits.definitions().stream()
                .sorted(Comparator.comparing(PermitDefinition::name))
                .limit(MOST_NAMES)
                .toList();
    }

    private Store store() {
        StoreGauges store = permits.status();
        return new Store(store.backend(), store.address());
    }

    private Summary summary(PermitDefinition definition, Set<String> keys, Map<String, KeyState> states) {
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
        Integer stated = definition.isLimitedPerCall() ? null : Integer.valueOf(limit(definition));
        boolean known = definition.isUnlimited() || states.containsKey(usual);
        return new Summary(
                definition.name(),
                definition.key(),
                override != null ? Integer.valueOf(override.limit()) : known ? stated : null,
                override != null ? "override" : known ? source(definition) : null,
                stated,
                overrides.isEmpty() ? null : overrides,
                definition.within(),
                gauges.map(PermitGauges::holders).orElse(0),
                gauges.map(PermitGauges::waiters).orElse(0),
                gauges.map(PermitGauges::runningLost).orElse(0));
    }

    Optional<PermitDefinition> find(String name) {
        return permits.definitions().stream()
                .filter(definition -> definition.name().equals(name))
                .findFirst();
    }

    /** @param onlyKey the one key to show; {@code null} for those in use */
    Detail detail(PermitDefinition definition, @Nullable String onlyKey, int most) {
        TreeSet<String> keys = onlyKey == null ? keys(definition) : new TreeSet<>(List.of(onlyKey));
        List<String> asked = new ArrayList<>(keys.stream().limit(most).toList());
        String usual = usualKey(definition);
        boolean found = onlyKey == null && keys.size() < most && keys.add(usual);
        if (found) {
            asked.add(usual); // calls of other instances may use it
        }
        List<Inspected> inspected = inspections.of(asked);
        if (found && isEmpty(inspected.get(inspected.size() - 1))) {
            keys.remove(usual);
            inspected = inspected.subList(0, inspected.size() - 1);
        }
        List<Key> shown = views(definition, inspected);
        Summary summary = summary(definition, Set.of(), Map.of());
        boolean truncated = keys.size() > shown.size();
        String hint = truncated
                ? "%d of %d keys are shown; ask for one with ?key=..., or for up to %d with ?most=..."
                        .formatted(shown.size(), keys.size(), MOST_KEYS)
                : null;
        return new Detail(
                store(),
                instance(),
                definition.name(),
                summary.statedLimit(),
                summary.within(),
                summary.holding(),
                summary.waiting(),
                summary.runningLost(),
                keys.size(),
                shown,
                truncated,
                hint);
    }

    /** The key of all calls; of a permit without one the key that its calls have unless they name another. */
    private static String usualKey(PermitDefinition definition) {
        String key = definition.key();
        return key == null ? definition.name() : key;
    }

    private static boolean isEmpty(Inspected key) {
        return key.state().members().isEmpty() && key.state().override().isEmpty();
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

    private List<Key> views(PermitDefinition definition, List<Inspected> keys) {
        List<Key> views = new ArrayList<>();
        int members = MOST_ROWS;
        int calls = MOST_ROWS;
        for (Inspected each : keys) {
            Key view = view(definition, each, Math.min(members, MOST_MEMBERS), Math.min(calls, MOST_CALLS));
            members -= view.members().size();
            calls -= view.calls().size();
            views.add(view);
        }
        return views;
    }

    private Key view(PermitDefinition definition, Inspected key, int mostMembers, int mostCalls) {
        KeyState state = key.state();
        List<CallView> calls = permits.calls(state.key(), mostCalls + 1);
        List<MemberRow> rows = new ArrayList<>();
        int position = 0;
        int waiting = 0;
        boolean known = key.problem() == null;
        for (MemberState member : state.members()) {
            position += member.waiting() ? 1 : 0;
            MemberRow row = row(member, position, calls, mostCalls);
            waiting += row.waiting();
            if (rows.size() < mostMembers) {
                rows.add(row);
            }
        }
        return new Key(
                state.key(),
                known ? Integer.valueOf(state.limit(limit(definition))) : null,
                known ? state.override().isPresent() ? "override" : source(definition) : null,
                override(state),
                differing(state.members()),
                known ? Integer.valueOf(state.used()) : null,
                known ? Integer.valueOf(position) : null,
                known ? Integer.valueOf(waiting) : null,
                rows,
                state.members().size() > rows.size(),
                calls.stream().limit(mostCalls).map(this::call).toList(),
                calls.size() > mostCalls,
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

    private static @Nullable List<Integer> differing(List<MemberState> members) {
        List<Integer> limits =
                members.stream().map(MemberState::limit).distinct().sorted().toList();
        return limits.size() > 1 ? limits : null;
    }

    private MemberRow row(MemberState member, int position, List<CallView> calls, int mostCalls) {
        boolean self = member.member().equals(permits.member().id());
        String name = self ? permits.member().name() : member.name().orElse(null);
        return new MemberRow(
                member.member(),
                name,
                self,
                member.permits(),
                member.wanted(),
                self && calls.size() <= mostCalls ? waiting(calls) : member.calls(),
                member.limit(),
                member.waiting() ? position : null,
                member.waited().map(this::ago).orElse(null),
                member.leaseLeft().map(Duration::toMillis).orElse(null));
    }

    private static int waiting(List<CallView> calls) {
        return (int) calls.stream().filter(call -> call.is(State.WAITING)).count();
    }

    private Call call(CallView call) {
        return new Call(
                call.state().name().toLowerCase(Locale.ROOT),
                call.permits(),
                ago(call.age()),
                call.caller().flatMap(Caller::method).orElse(null),
                call.caller().map(Caller::thread).orElse(null),
                call.caller().flatMap(Caller::traceId).orElse(null));
    }

    private Instant ago(Duration age) {
        return clock.instant().minus(age).truncatedTo(ChronoUnit.MILLIS);
    }

    private Instance instance() {
        return new Instance(permits.member().id(), permits.member().name());
    }

    private static int limit(PermitDefinition definition) {
        Integer limit = definition.limit();
        return limit == null ? 0 : limit;
    }

    private String source(PermitDefinition definition) {
        return permits.isLimitFromSettings(definition.name()) ? "settings" : "annotation";
    }
}
