package io.github.distributedpermit.aop.async;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import reactor.core.CoreSubscriber;
import reactor.util.context.Context;

/** Passes the subscriber's Reactor context on to the work, with the permits, for inner calls that join them. Loaded only where Reactor is on the class path. */
final class ReactorSubscription extends HeldSubscription implements CoreSubscriber<Object> {

    private final Context context;

    private ReactorSubscription(HeldPublisher publisher, Subscriber<? super Object> subscriber, Context context) {
        super(publisher, subscriber, context);
        this.context = context;
    }

    static HeldSubscription create(HeldPublisher publisher, Subscriber<? super Object> subscriber) {
        return subscriber instanceof CoreSubscriber<?> core
                ? new ReactorSubscription(publisher, subscriber, core.currentContext())
                : new HeldSubscription(publisher, subscriber, null);
    }

    @Override
    @Nullable
    PermitBundle outer() {
        return context.getOrDefault(PermitBundle.class, null);
    }

    /** The work sees what this subscription holds. Without permits, this is the fallback. */
    @Override
    public Context currentContext() {
        PermitBundle held = permits();
        return held == null ? context : context.put(PermitBundle.class, held.within(outer()));
    }
}
