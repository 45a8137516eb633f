package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** Tells several observers; one that throws does not keep the others from hearing. */
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
    public void named(PermitGauges gauges) {
        each(observer -> observer.named(gauges));
    }

    @Override
    public void acquired(String name, Duration waited) {
        each(observer -> observer.acquired(name, waited));
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
    public void released(String name, Duration held) {
        each(observer -> observer.released(name, held));
    }

    @Override
    public void lost(String name, int permits) {
        each(observer -> observer.lost(name, permits));
    }

    @Override
    public void handedOver(String name, int permits) {
        each(observer -> observer.handedOver(name, permits));
    }

    private void each(Consumer<PermitObserver> call) {
        for (PermitObserver observer : observers) {
            try {
                call.accept(observer);
            } catch (Throwable e) { // also of one that is compiled against something that is not there
                log.warn("A PermitObserver failed: " + observer.getClass().getName(), e);
            }
        }
    }
}
