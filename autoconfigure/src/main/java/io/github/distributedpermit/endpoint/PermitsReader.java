package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.endpoint.KeyInspections.Inspected;
import io.github.distributedpermit.endpoint.PermitsView.Call;
import io.github.distributedpermit.endpoint.PermitsView.Detail;
import io.github.distributedpermit.endpoint.PermitsView.Instance;
import io.github.distributedpermit.endpoint.PermitsView.Key;
import io.github.distributedpermit.endpoint.PermitsView.MemberRow;
import io.github.distributedpermit.endpoint.PermitsView.Summary;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.CallView.State;
import io.github.distributedpermit.spi.Caller;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;
import io.github.distributedpermit.spi.PermitAccess;
import io.github.distributedpermit.spi.PermitGauges;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
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

    PermitsView all() {
        List<PermitDefinition> definitions = permits.definitions().stream()
                .sorted(Comparator.comparing(PermitDefinition::name))
                .toList();
        List<Summary> summaries =
                definitions.stream().limit(MOST_NAMES).map(this::summary).toList();
        return new PermitsView(permits.backend(), instance(), summaries, definitions.size() > MOST_NAMES);
    }

    private Summary summary(PermitDefinition definition) {
        Optional<PermitGauges> gauges = permits.gauges(definition.name());
        return new Summary(
                definition.name(),
                definition.key(),
                limit(definition),
                source(definition),
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
        List<Key> shown =
                views(definition, inspections.of(keys.stream().limit(most).toList()));
        Summary summary = summary(definition);
        boolean truncated = keys.size() > shown.size();
        String hint = truncated
                ? "%d of %d keys are shown; ask for one with ?key=..., or for up to %d with ?most=..."
                        .formatted(shown.size(), keys.size(), MOST_KEYS)
                : null;
        return new Detail(
                instance(),
                definition.name(),
                summary.limit(),
                summary.limitSource(),
                summary.within(),
                summary.holding(),
                summary.waiting(),
                summary.runningLost(),
                keys.size(),
                shown,
                truncated,
                hint);
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
        int waiting = key.problem() == null ? 0 : waiting(calls);
        int inUse = key.problem() == null ? state.used() : holding(calls);
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
                state.override().orElse(limit(definition)),
                state.override().isPresent() ? "override" : source(definition),
                differing(state.members()),
                inUse,
                position,
                waiting,
                rows,
                state.members().size() > rows.size(),
                calls.stream().limit(mostCalls).map(this::call).toList(),
                calls.size() > mostCalls,
                key.problem());
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

    private static int holding(List<CallView> calls) {
        return calls.stream()
                .filter(call -> call.is(State.HOLDING))
                .mapToInt(CallView::permits)
                .sum();
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
