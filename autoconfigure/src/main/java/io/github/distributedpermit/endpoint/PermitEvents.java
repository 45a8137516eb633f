package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.endpoint.PermitsView.Event;
import io.github.distributedpermit.spi.Expired;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.Pause;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** The last events that this instance has seen, for operators: changed limits, taken and lost permits. In memory only. Thread-safe. */
public final class PermitEvents implements PermitObserver {

    static final int MOST = 100;

    private final Deque<Event> events = new ArrayDeque<>();
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
                ? paused.map(what -> "The pause of " + what + " has ended")
                        .orElse("The limit of the operator is lifted")
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
        Event last = events.peekFirst();
        boolean again = last != null && last.kind().equals("loss") && last.key().equals(call.key());
        if (again) {
            events.removeFirst();
        }
        add("loss", call.key(), "Calls of this instance lost permits", again ? last.count() + 1 : 1);
    }

    /** The keys of one member are one event, as it may have had permits of hundreds. */
    @Override
    public synchronized void expired(String key, Expired members) {
        String member = "Member " + members.name().orElse(members.member()) + " is not alive any more; it had ";
        Event last = events.peekFirst();
        if (last != null && last.kind().equals("expiry") && last.text().startsWith(member)) {
            events.removeFirst();
            int keys = last.count() + 1;
            add("expiry", "", member + "permits of " + keys + " keys", keys);
            return;
        }
        String others = members.others() == 0
                ? ""
                : ", and %d others had %d".formatted(members.others(), members.permitsOfOthers());
        add("expiry", key, member + members.permits() + " permit(s)" + others, 1);
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
    public void storeSlow(Duration average) {
        add("outage", "", "The store answers this instance slowly: after " + average.toMillis() + " ms on average", 1);
    }

    @Override
    public void storeQuick(Duration lasted) {
        add(
                "outage",
                "",
                "The store answers this instance quickly again; it was slow for " + lasted.toMillis() + " ms",
                1);
    }

    @Override
    public void limitsDiffer(String key, String limits) {
        add("limit", key, "Instances state different limits: " + limits, 1);
    }

    /** @param key empty if it concerns all */
    synchronized void add(String kind, String key, String text, int count) {
        events.addFirst(new Event(clock.instant().truncatedTo(ChronoUnit.MILLIS), kind, key, text, count));
        if (events.size() > MOST) {
            events.removeLast();
        }
    }
}
