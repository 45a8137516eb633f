package io.github.distributedpermit.aop.async;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import org.springframework.util.ClassUtils;
import reactor.core.CoreSubscriber;
import reactor.util.context.Context;

/**
 * One subscription of a limited method: takes the permits, subscribes to the work, and releases them once, before the
 * subscriber gets the terminal signal. A cancellation while it waits leaves the queue. Thread-safe; the signals of the work
 * follow the rules of Reactive Streams.
 */
class HeldSubscription implements Subscriber<Object>, Subscription {

    private static final boolean REACTOR =
            ClassUtils.isPresent("reactor.core.CoreSubscriber", HeldSubscription.class.getClassLoader());

    private final PublishedWork publisher;
    private final Subscriber<? super Object> subscriber;
    private final @Nullable Object context;
    private final AtomicBoolean ended = new AtomicBoolean();
    private volatile boolean cancelled;
    private volatile @Nullable Acquisition acquisition;
    private volatile @Nullable PermitBundle permits;

    /** The subscription to the work; what is requested before is kept in {@link #requested}. Both guarded by this. */
    private volatile @Nullable Subscription work;

    private long requested;

    private @Nullable Object value;

    HeldSubscription(PublishedWork publisher, Subscriber<? super Object> subscriber, @Nullable Object context) {
        this.publisher = publisher;
        this.subscriber = subscriber;
        this.context = context;
    }

    /** One for this subscriber, to be started. */
    static HeldSubscription of(PublishedWork work, Subscriber<? super Object> subscriber) {
        return REACTOR ? InReactor.create(work, subscriber) : new HeldSubscription(work, subscriber, null);
    }

    final void start() {
        subscriber.onSubscribe(this);
        if (cancelled) {
            return;
        }
        Acquisition started =
                ContextCapture.within(context, () -> publisher.call().acquire(outer()));
        acquisition = started;
        Continuation.follow(started, this::decided, publisher.contexts(), context);
        if (cancelled) {
            started.cancel(); // it was cancelled before the acquisition was known
        }
    }

    /** What the subscriber holds. */
    @Nullable
    PermitBundle outer() {
        return null;
    }

    /** What this subscription holds; {@code null} before that. */
    final @Nullable PermitBundle permits() {
        return permits;
    }

    private void decided(@Nullable PermitBundle taken, @Nullable Throwable failure) {
        permits = taken;
        if (cancelled) {
            release();
            return;
        }
        try {
            Publisher<Object> source =
                    taken != null ? Objects.requireNonNull(taken.begin(publisher.work()::get)) : answer(failure);
            if (cancelled) {
                release(); // cancel() leaves the release to the thread that calls the method
            } else {
                source.subscribe(this);
            }
        } catch (Throwable e) {
            release(); // also if it was cancelled meanwhile, when onError has no effect
            onError(e);
        }
    }

    private Publisher<Object> answer(@Nullable Throwable failure) throws Throwable {
        Throwable reason = Objects.requireNonNull(failure, "an acquisition ends with permits or a failure");
        Acquisition failed = acquisition;
        if (failed == null) {
            throw reason;
        }
        return publisher.answered().get(failed.fallback().to(reason));
    }

    @Override
    public final void onSubscribe(Subscription subscription) {
        long due = 0;
        boolean refused;
        synchronized (this) {
            refused = cancelled || work != null;
            if (!refused) {
                work = subscription;
                due = requested;
            }
        }
        if (refused) {
            try {
                subscription.cancel();
            } finally { // the cancellation may call code of the application that throws
                if (cancelled) {
                    release();
                }
            }
        } else if (due > 0) {
            subscription.request(due);
        }
    }

    @Override
    public final void onNext(Object next) {
        if (publisher.single()) {
            value = next;
        } else {
            subscriber.onNext(next);
        }
    }

    @Override
    public final void onError(Throwable error) {
        if (ended.compareAndSet(false, true)) {
            release();
            subscriber.onError(error);
        }
    }

    @Override
    public final void onComplete() {
        if (!ended.compareAndSet(false, true)) {
            return;
        }
        release();
        Object last = value;
        if (last != null) {
            subscriber.onNext(last);
        }
        if (!cancelled) {
            subscriber.onComplete();
        }
    }

    @Override
    public final void request(long n) {
        if (n <= 0) {
            try {
                cancelWork();
            } catch (RuntimeException e) {
                // the subscriber gets the error that it caused
            }
            onError(new IllegalArgumentException("Rule 3.9 of Reactive Streams: " + n + " items cannot be requested"));
            return;
        }
        Subscription started = work;
        if (started == null) {
            synchronized (this) {
                started = work;
                if (started == null) {
                    requested = requested + n < 0 ? Long.MAX_VALUE : requested + n;
                    return;
                }
            }
        }
        started.request(n);
    }

    @Override
    public final void cancel() {
        if (ended.compareAndSet(false, true)) {
            cancelWork();
        } else {
            cancelled = true;
        }
    }

    /** While the method itself runs, the thread that called it releases the permits after its return. */
    private void cancelWork() {
        Subscription started;
        synchronized (this) {
            cancelled = true;
            started = work;
        }
        Acquisition waiting = acquisition;
        if (waiting != null) {
            waiting.cancel();
        }
        if (started != null) {
            try {
                started.cancel();
            } finally {
                release();
            }
        }
    }

    private void release() {
        PermitBundle held = permits;
        if (held != null) {
            held.release();
        }
    }

    /**
     * Passes the subscriber's Reactor context on to the work, with the permits, for inner calls that join them. Loaded only where
     * Reactor is on the class path.
     */
    private static final class InReactor extends HeldSubscription implements CoreSubscriber<Object> {

        private final Context context;

        private InReactor(PublishedWork work, Subscriber<? super Object> subscriber, Context context) {
            super(work, subscriber, context);
            this.context = context;
        }

        static HeldSubscription create(PublishedWork work, Subscriber<? super Object> subscriber) {
            return subscriber instanceof CoreSubscriber<?> core
                    ? new InReactor(work, subscriber, core.currentContext())
                    : new HeldSubscription(work, subscriber, null);
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
}
