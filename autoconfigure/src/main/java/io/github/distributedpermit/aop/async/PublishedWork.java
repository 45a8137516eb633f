package io.github.distributedpermit.aop.async;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/**
 * What subscriptions to a limited method do.
 *
 * @param work makes the publisher of one subscription
 * @param answered makes the publisher of what the fallback returned
 * @param single whether it publishes one value at most, which then follows the release of the permits
 */
record PublishedWork(LimitedCall call, Work work, Answered answered, boolean single, ContextCapture contexts) {

    interface Work {

        Publisher<Object> get() throws Throwable;
    }

    interface Answered {

        Publisher<Object> get(@Nullable Object fallback) throws Throwable;
    }
}
