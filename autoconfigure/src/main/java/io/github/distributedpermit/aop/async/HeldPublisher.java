package io.github.distributedpermit.aop.async;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.springframework.util.ClassUtils;

/**
 * Takes permits for each subscription. Thread-safe.
 *
 * @param work makes the publisher of one subscription
 * @param answered makes the publisher of what the fallback returned
 * @param single whether it publishes one value at most, which then follows the release of the permits
 */
record HeldPublisher(LimitedCall call, Work work, Answered answered, boolean single, ContextCapture contexts)
        implements Publisher<Object> {

    private static final boolean REACTOR =
            ClassUtils.isPresent("reactor.core.CoreSubscriber", HeldPublisher.class.getClassLoader());

    @Override
    public void subscribe(Subscriber<? super Object> subscriber) {
        HeldSubscription subscription =
                REACTOR ? ReactorSubscription.create(this, subscriber) : new HeldSubscription(this, subscriber, null);
        subscription.start();
    }

    interface Work {

        Publisher<Object> get() throws Throwable;
    }

    interface Answered {

        Publisher<Object> get(@Nullable Object fallback) throws Throwable;
    }
}
