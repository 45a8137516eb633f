package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.spi.CallObserver;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.spi.StoreGauges;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** Notifies several observers. One that throws does not stop the notification of the others. Thread-safe if they are. */
final class CompositePermitObserver implements PermitObserver {

    private static final Log log = LogFactory.getLog(CompositePermitObserver.class);

    private final List<PermitObserver> observers;

    private CompositePermitObserver(List<PermitObserver> observers) {
        this.observers = observers;
    }

    static PermitObserver of(List<PermitObserver> observers) {
        return switch (observers.size()) {
            case 0 -> NONE;
            case 1 -> observers.get(0);
            default -> new CompositePermitObserver(observers);
        };
    }

    @Override
    public void joined(StoreGauges gauges) {
        each(observer -> observer.joined(gauges));
    }

    @Override
    public void named(PermitGauges gauges) {
        each(observer -> observer.named(gauges));
    }

    @Override
    public @Nullable CallObserver arrived(String name, String key, int permits, boolean waits) {
        List<CallObserver> calls = new ArrayList<>(observers.size());
        each(observer -> {
            CallObserver call = observer.arrived(name, key, permits, waits);
            if (call != null) {
                calls.add(call);
            }
        });
        return switch (calls.size()) {
            case 0 -> null;
            case 1 -> calls.get(0);
            default -> new CompositeCallObserver(calls);
        };
    }

    @Override
    public void acquired(String name, int permits, Via via, Duration waited) {
        each(observer -> observer.acquired(name, permits, via, waited));
    }

    @Override
    public void rejected(String name, Reason reason, Duration waited) {
        each(observer -> observer.rejected(name, reason, waited));
    }

    @Override
    public void failed(String name, Duration waited) {
        each(observer -> observer.failed(name, waited));
    }

    @Override
    public void abandoned(String name, Duration waited) {
        each(observer -> observer.abandoned(name, waited));
    }

    @Override
    public void released(String name, Duration held) {
        each(observer -> observer.released(name, held));
    }

    @Override
    public void lost(String name, int permits) {
        each(observer -> observer.lost(name, permits));
    }

    @Override
    public void claimed(boolean answered, Duration took) {
        each(observer -> observer.claimed(answered, took));
    }

    private void each(Consumer<PermitObserver> call) {
        each(observers, call);
    }

    /** Does this with each of them. */
    static <T> void each(List<T> observers, Consumer<T> call) {
        for (T observer : observers) {
            try {
                call.accept(observer);
            } catch (Throwable e) { // also of one that is compiled against something that is not there
                log.warn("An observer of permits failed: " + observer.getClass().getName(), e);
            }
        }
    }
}
