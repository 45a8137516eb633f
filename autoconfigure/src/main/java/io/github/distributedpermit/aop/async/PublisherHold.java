package io.github.distributedpermit.aop.async;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ReactiveAdapter;

/**
 * For methods that return a reactive type that Spring has an adapter for. Each subscription takes permits of its own
 * without blocking a thread, calls the method when they are there, and holds them until complete, error or cancel.
 */
public final class PublisherHold implements HoldStrategy {

    private final ReactiveAdapter adapter;
    private final ContextCapture contexts;

    /** For the type of this adapter. */
    public PublisherHold(ReactiveAdapter adapter, ContextCapture contexts) {
        this.adapter = adapter;
        this.contexts = contexts;
    }

    @Override
    public boolean endsWithinTheCaller() {
        return true;
    }

    @Override
    public Object invoke(LimitedCall call) {
        return limited(call, call::proceed, returned -> returned);
    }

    /**
     * A publisher of the adapter's type.
     *
     * @param source makes the value of the adapter's type to subscribe to
     * @param answered the same for the fallback's value
     */
    public Object limited(LimitedCall call, Source source, LimitedCall.Answered answered) {
        PublishedWork work = new PublishedWork(
                call,
                () -> publisher(call, source.get()),
                fallback -> instead(call, answered.apply(fallback)),
                !adapter.isMultiValue(),
                contexts);
        Publisher<Object> publisher =
                subscriber -> HeldSubscription.of(work, subscriber).start();
        return adapter.fromPublisher(publisher);
    }

    /** A call that is skipped has no value, and publishes nothing. */
    private Publisher<Object> instead(LimitedCall call, @Nullable Object value) {
        return publisher(
                call,
                value == null && adapter.supportsEmpty()
                        ? adapter.getDescriptor().getEmptyValue()
                        : value);
    }

    private Publisher<Object> publisher(LimitedCall call, @Nullable Object returned) {
        if (returned == null) {
            throw new IllegalStateException(
                    call.description() + " returned null; return an empty publisher if there is nothing to publish");
        }
        return adapter.toPublisher(returned);
    }

    /** Makes what is subscribed to. */
    @FunctionalInterface
    public interface Source {

        /** Makes it, for one subscription. */
        @Nullable
        Object get() throws Throwable;
    }
}
