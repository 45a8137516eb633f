package io.github.distributedpermit.aop;

import io.github.distributedpermit.aop.async.ContextCapture;
import io.github.distributedpermit.aop.async.HoldStrategy;
import io.github.distributedpermit.aop.async.PublisherHold;
import io.github.distributedpermit.aop.async.SuspendingHold;
import org.springframework.core.ReactiveAdapter;

/** Loaded only where a method returns a reactive type. */
final class ReactiveHolds {

    private ReactiveHolds() {}

    static HoldStrategy of(ReactiveAdapter adapter, ContextCapture contexts) {
        return new PublisherHold(adapter, contexts);
    }

    static HoldStrategy ofSuspending(boolean flow, ContextCapture contexts) {
        return new SuspendingHold(flow, contexts);
    }
}
