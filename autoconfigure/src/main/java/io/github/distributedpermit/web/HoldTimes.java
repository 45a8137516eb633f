package io.github.distributedpermit.web;

import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.springframework.util.PatternMatchUtils;

/**
 * Observes how long calls hold the permits of each name, as a moving average over about ten calls. Names that have their
 * settings from one pattern are observed together, under that pattern. Thread-safe; two calls that end at the same moment
 * may count as one.
 */
public final class HoldTimes implements PermitObserver {

    private static final long WEIGHT = 10;

    private final Map<String, AtomicLong> nanos = new ConcurrentHashMap<>();

    @Override
    public void released(PermitCall call, Duration held) {
        note(call.observedName(), held);
    }

    void note(String name, Duration held) {
        AtomicLong average = nanos.get(name);
        if (average == null) {
            nanos.putIfAbsent(name, new AtomicLong(held.toNanos()));
        } else {
            long before = average.get();
            average.lazySet(before + (held.toNanos() - before) / WEIGHT);
        }
    }

    /** How long a permit of the name is held; {@code null} if none has been released. */
    @Nullable
    Duration of(String name) {
        AtomicLong average = nanos.get(name);
        if (average == null) {
            average = nanos.entrySet().stream()
                    .filter(each -> PatternMatchUtils.simpleMatch(each.getKey(), name))
                    .max(Comparator.comparingInt(each -> each.getKey().length()))
                    .map(Map.Entry::getValue)
                    .orElse(null);
        }
        return average == null ? null : Duration.ofNanos(average.get());
    }
}
