package io.github.distributedpermit.ui;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.util.MimeTypeUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * Streams for WebFlux. Netty keeps in memory what a browser does not read, however much that is. A stream therefore skips its
 * event while the connection takes no more. Thread-safe.
 */
final class ReactiveEventStreams implements EventStreams {

    private final Semaphore free = new Semaphore(MOST);
    private volatile Sinks.Empty<Object> stopped = Sinks.empty();
    private final StateFormat format;
    private volatile boolean running = true;

    ReactiveEventStreams(StateFormat format) {
        this.format = format;
    }

    @Override
    public WebEndpointResponse<Flux<Object>> stream(Supplier<LiveState> states) {
        if (!running) {
            throw new IllegalStateException("This instance stops");
        }
        if (free.availablePermits() == 0) {
            throw new IllegalStateException("There are " + MOST + " live pages of this instance already");
        }
        // A response may never be subscribed to, so that only a subscription takes a place.
        Flux<Object> events = Flux.deferContextual(
                context -> free.tryAcquire() ? events(states, ConnectionState.takesMore(context)) : Flux.empty());
        return new WebEndpointResponse<>(
                events, WebEndpointResponse.STATUS_OK, MimeTypeUtils.parseMimeType("text/event-stream"));
    }

    /** Ends at once if the stop came before the subscription. */
    private Flux<Object> events(Supplier<LiveState> states, BooleanSupplier takesMore) {
        return Flux.interval(Duration.ZERO, Duration.ofMillis(PERIOD_MILLIS))
                .onBackpressureDrop()
                .publishOn(Schedulers.boundedElastic(), 1)
                .filter(tick -> takesMore.getAsBoolean())
                .map(tick -> format.format(states.get()))
                .take(Duration.ofMillis(LIFE_MILLIS))
                .takeUntilOther(stopped.asMono())
                .doFinally(end -> free.release());
    }

    @Override
    public void start() {
        stopped = Sinks.empty();
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        stopped.tryEmitEmpty();
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
