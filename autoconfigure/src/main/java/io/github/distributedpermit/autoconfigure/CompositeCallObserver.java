package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.spi.CallObserver;
import java.util.List;
import java.util.function.Consumer;

/** Notifies several observers of one call. One that throws does not stop the notification of the others. */
final class CompositeCallObserver implements CallObserver {

    private final List<CallObserver> observers;

    CompositeCallObserver(List<CallObserver> observers) {
        this.observers = List.copyOf(observers);
    }

    @Override
    public void granted() {
        each(CallObserver::granted);
    }

    @Override
    public void rejected(Reason reason) {
        each(observer -> observer.rejected(reason));
    }

    @Override
    public void failed(Throwable cause) {
        each(observer -> observer.failed(cause));
    }

    @Override
    public void abandoned() {
        each(CallObserver::abandoned);
    }

    @Override
    public void lost() {
        each(CallObserver::lost);
    }

    @Override
    public void released() {
        each(CallObserver::released);
    }

    private void each(Consumer<CallObserver> call) {
        CompositePermitObserver.each(observers, call);
    }
}
