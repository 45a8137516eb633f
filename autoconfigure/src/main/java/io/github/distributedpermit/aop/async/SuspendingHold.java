package io.github.distributedpermit.aop.async;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * For suspending functions of Kotlin, which Spring's proxies give the advice as a {@code Mono} or a {@code Flux}. The
 * caller is suspended while it waits. The permits are held until the function has returned, or until the collection of the
 * {@code Flow} that it returns has ended.
 */
public final class SuspendingHold implements HoldStrategy {

    private final boolean flow;
    private final PublisherHold published;

    /**
     * Creates it.
     *
     * @param flow whether the function returns a {@code Flow}
     */
    public SuspendingHold(boolean flow, ContextCapture contexts) {
        this.flow = flow;
        ReactiveAdapter adapter =
                ReactiveAdapterRegistry.getSharedInstance().getAdapter(flow ? Flux.class : Mono.class);
        if (adapter == null) {
            throw new IllegalStateException("Spring has no adapter for Reactor");
        }
        this.published = new PublisherHold(adapter, contexts);
    }

    @Override
    public boolean endsWithinTheCaller() {
        return true;
    }

    @Override
    public Object invoke(LimitedCall call) {
        return published.limited(call, call::proceed, this::answered);
    }

    /** A fallback need not suspend, and then returns its value. */
    private @Nullable Object answered(@Nullable Object fallback) {
        if (fallback == null || fallback instanceof Publisher<?>) {
            return fallback;
        }
        ReactiveAdapter adapter =
                flow ? ReactiveAdapterRegistry.getSharedInstance().getAdapter(fallback.getClass()) : null;
        return adapter == null ? Mono.just(fallback) : Flux.from(adapter.toPublisher(fallback));
    }
}
