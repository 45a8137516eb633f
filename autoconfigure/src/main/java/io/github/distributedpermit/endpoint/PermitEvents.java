package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.endpoint.PermitsView.Event;
import io.github.distributedpermit.spi.Expired;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.Pause;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The last events that this instance has seen, for operators: changed limits, taken and lost permits. In memory only. Thread-safe. */
public final class PermitEvents implements PermitObserver {

    static final int MOST = 100;

    private static final String EXPIRY = "expiry";
    private static final Set<String> ORDERS = Set.of("limit", "eviction", "drain");

    /** Keys of a member, in the text of an event. */
    private static final int MOST_NAMED = 5;

    private static final int MOST_GRACED = 1_000;

    private final List<Event> events = new ArrayList<>();
    /** The members of the last events, if these are all of such members, by their ids. */
    private final Map<String, DeadMember> dead = new HashMap<>();

    private final Set<String> graced = new HashSet<>();
    private Instant graceEnds = Instant.MIN;
    private @Nullable Event grace;
    private @Nullable Event slow;
    private @Nullable Event quick;
    private final Clock clock;

    /** With the clock for the times of the events. */
    public PermitEvents(Clock clock) {
        this.clock = clock;
    }

    /** The newest first. */
    synchronized List<Event> latest() {
        return List.copyOf(events);
    }

    @Override
    public void limitSet(String key, OverrideLimit limit) {
        Optional<String> paused = Pause.describe(key);
        String text = limit.isEmpty()
                ? paused.map(what -> "The pause of " + what).orElse("The limit of the operator")
                        + " has ended, or was lost with the data of the store"
                : "%s%s, set %s%s"
                        .formatted(
                                paused.map(what -> "All calls of " + what + " are paused")
                                        .orElse("Limit " + limit.limit()),
                                limit.endsAt().map(end -> " until " + end).orElse(" until it is lifted"),
                                limit.by().isEmpty() ? "by an operator" : limit.by(),
                                limit.reason().isEmpty() ? "" : ": " + limit.reason());
        add("limit", paused.isPresent() ? "" : key, text, 1);
    }

    /** Several losses of a key one after another are one event, so that they do not displace all others. */
    @Override
    public synchronized void lost(PermitCall call) {
        Event last = last();
        boolean again = last != null && last.kind().equals("loss") && last.key().equals(call.key());
        if (again) {
            events.remove(0);
        }
        add("loss", call.key(), "Calls of this instance lost permits", last != null && again ? last.count() + 1 : 1);
    }

    /** The keys of one member are one event, as it may have had permits of hundreds, and so may one that ended at the same time. */
    @Override
    public synchronized void expired(String key, Expired members) {
        Event last = last();
        if (last == null || !last.kind().equals(EXPIRY) || dead.size() == MOST) {
            dead.clear();
        }
        DeadMember member = dead.computeIfAbsent(members.member(), DeadMember::new);
        events.removeIf(event -> event == member.event);
        member.add(key, members);
        member.event = add(EXPIRY, member.keys() == 1 ? key : "", member.text(), member.keys());
    }

    /** The keys for which the store may have lost state at one time are one event. */
    @Override
    public synchronized void graceBegan(String key, Duration lasts) {
        Instant now = clock.instant();
        int at = grace == null ? -1 : events.indexOf(grace);
        if (at < 0 || now.isAfter(graceEnds)) {
            graced.clear();
            graceEnds = now.plus(lasts);
        }
        if (graced.size() == MOST_GRACED || !graced.add(key)) {
            return;
        }
        int keys = graced.size();
        String text = "The store may have lost its state: %s no new permits for up to %d ms"
                .formatted(
                        keys == 1 ? "this key gets" : keys + (keys == MOST_GRACED ? " keys or more get" : " keys get"),
                        lasts.toMillis());
        if (keys == 1) {
            grace = add("grace", key, text, 1);
        } else {
            grace = new Event(events.get(at).at(), "grace", "", text, keys);
            events.set(at, grace);
        }
    }

    @Override
    public synchronized void graceEnded(Duration lasted) {
        grace = null;
        add(
                "grace",
                "",
                "All keys of this instance get new permits again, %d ms after the store may have lost its state"
                        .formatted(lasted.toMillis()),
                1);
    }

    @Override
    public void storeSilent() {
        add("outage", "", "The store does not answer this instance", 1);
    }

    @Override
    public void storeAnswers(Duration outage) {
        add("outage", "", "The store answers this instance again after " + outage.toMillis() + " ms", 1);
    }

    @Override
    public synchronized void storeSlow(Duration average) {
        slow = again(slow, "The store answers this instance slowly: after " + average.toMillis() + " ms on average");
    }

    @Override
    public synchronized void storeQuick(Duration lasted) {
        quick = again(
                quick, "The store answers this instance quickly again; it was slow for " + lasted.toMillis() + " ms");
    }

    /** Instead of the last such event: a store may be slow now and then for days. */
    private Event again(@Nullable Event before, String text) {
        int count = before != null && events.remove(before) ? before.count() + 1 : 1;
        return add("outage", "", count == 1 ? text : text + " (" + count + " times)", count);
    }

    @Override
    public void limitsDiffer(String key, String limits) {
        add("limit", key, "Instances state different limits: " + limits, 1);
    }

    private @Nullable Event last() {
        return events.isEmpty() ? null : events.get(0);
    }

    /** @param key empty if it concerns all */
    synchronized Event add(String kind, String key, String text, int count) {
        Event event = new Event(clock.instant().truncatedTo(ChronoUnit.MILLIS), kind, key, text, count);
        events.add(0, event);
        if (events.size() > MOST) {
            dropOldest();
        }
        return event;
    }

    /** Half of the room is for the orders of operators: an incident with many keys must not displace what they did about it. */
    private void dropOldest() {
        boolean orders = events.stream().filter(PermitEvents::isOrder).count() > MOST / 2;
        int at = events.size() - 1;
        while (isOrder(events.get(at)) != orders) {
            at--;
        }
        events.remove(at);
    }

    private static boolean isOrder(Event event) {
        return ORDERS.contains(event.kind());
    }

    /** A member that is not alive any more, and what it had. */
    private static final class DeadMember {

        private final Map<String, Integer> named = new LinkedHashMap<>();
        private String name;
        private final Set<String> more = new HashSet<>();
        private int others;
        private int permitsOfOthers;
        private @Nullable Event event;

        DeadMember(String id) {
            name = id;
        }

        void add(String key, Expired freed) {
            name = freed.name().orElse(name);
            if (named.size() < MOST_NAMED || named.containsKey(key)) {
                named.put(key, freed.permits());
            } else if (more.size() < MOST_GRACED) {
                more.add(key);
            }
            others = Math.max(others, freed.others());
            permitsOfOthers += freed.permitsOfOthers();
        }

        int keys() {
            return named.size() + more.size();
        }

        String text() {
            return "Member %s is not alive any more; it had %s%s%s"
                    .formatted(
                            name,
                            named.entrySet().stream()
                                    .map(key -> key.getValue() + " permit(s) of '" + key.getKey() + "'")
                                    .collect(Collectors.joining(", ")),
                            more.isEmpty() ? "" : ", and permits of " + more.size() + " other key(s)",
                            others == 0 ? "" : "; %d other(s) had %d".formatted(others, permitsOfOthers));
        }
    }
}
