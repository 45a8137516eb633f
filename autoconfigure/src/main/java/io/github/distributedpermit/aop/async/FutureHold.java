package io.github.distributedpermit.aop.async;

/**
 * For methods that return a {@code CompletionStage}, {@code CompletableFuture} or {@code Future}. The caller gets its
 * future at once. With idle permits the method runs on the caller's thread, else on the executor of continuations when the
 * permits are there, with the caller's context. The permits are held until the future that the method returned has ended.
 */
public final class FutureHold implements HoldStrategy {

    private final ContextCapture contexts;

    /** Carries contexts in this way. */
    public FutureHold(ContextCapture contexts) {
        this.contexts = contexts;
    }

    @Override
    public Object invoke(LimitedCall call) {
        Acquisition acquisition = call.acquire(null);
        HeldFuture result = new HeldFuture(call, acquisition);
        Continuation.follow(acquisition, result::decided, contexts, null);
        return result;
    }
}
