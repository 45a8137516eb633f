package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Connects in the background, and keeps the subscription working. Until its first attempt has ended calls wait for it:
 * an application that asks right after its start is not told that the store is down. Afterwards they go out at once or
 * fail at once.
 */
final class Link implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Link.class.getName());
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);
    private static final Duration FAREWELL = Duration.ofMillis(800);

    private final LettuceConnectionFactory factory;
    private final Ear ear;
    private final Duration watch;
    private final Anteroom anteroom = new Anteroom(this::deliver);
    private final CountDownLatch closed = new CountDownLatch(1);

    /** A connection has been made again since the subscription was checked. */
    private final Semaphore reconnected = new Semaphore(0);

    private volatile @Nullable Attachment attachment;
    private volatile @Nullable PermitStoreException failure;
    private @Nullable Thread thread;

    Link(LettuceConnectionFactory factory, Ear ear, Duration watch) {
        this.factory = factory;
        this.ear = ear;
        this.watch = watch;
    }

    void start(String name) {
        Thread tending = new Thread(this::tend, name);
        tending.setDaemon(true);
        thread = tending;
        tending.start();
    }

    /** Sends the call, or fails it. */
    void send(Call<?> call) {
        if (!anteroom.admits(call)) {
            deliver(call);
        }
    }

    private void deliver(Call<?> call) {
        Attachment to = attachment;
        PermitStoreException reason = failure;
        if (isClosed()) {
            call.refuse("This member has left Redis");
        } else if (to != null) {
            call.send(to);
        } else if (reason != null) {
            call.completeExceptionally(reason);
        } else {
            call.refuse("Redis can't be reached yet");
        }
    }

    private void tend() {
        Duration pause = FIRST_PAUSE;
        try {
            while (!isClosed()) {
                try {
                    repair();
                    healed();
                    pause = FIRST_PAUSE;
                    anteroom.open();
                    pause(watch);
                } catch (RuntimeException | Error | ExecutionException | TimeoutException e) {
                    failed(e); // also without memory or threads: nobody else would ever connect again
                    anteroom.open();
                    pause(pause);
                    pause = pause.multipliedBy(2);
                    pause = pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // closed
        } finally {
            closed.countDown();
            anteroom.open();
            ear.close();
            detach();
        }
    }

    private void repair() throws InterruptedException, ExecutionException, TimeoutException {
        reconnected.drainPermits();
        Attachment to = attachment;
        if (to == null || to.isGone()) {
            to = Attachment.to(factory, reconnected::release);
            detach();
            attachment = to;
            EvictionPolicy.check(to);
        }
        if (to.isDown()) {
            throw PermitStoreException.passing("Redis can't be reached: the connection is down", null);
        }
        if (ear.isOpen() && !ear.hears(to)) {
            LOG.log(INFO, "The subscription to Redis no longer hears anything; subscribing anew");
            ear.close();
        }
        if (!ear.isOpen()) {
            ear.open(factory, reconnected::release);
            if (!ear.hears(to)) {
                ear.close();
                throw PermitStoreException.passing(
                        "Redis can't be reached: the subscription is not on the server that takes the claims", null);
            }
        }
    }

    private void failed(Throwable e) {
        PermitStoreException reason = Failures.ofAttempt(e, failure);
        if (failure == null && !isClosed()) {
            LOG.log(WARNING, "Permits in Redis: {0}. Trying again until it works", reason.getMessage());
        }
        failure = reason;
    }

    private void healed() {
        if (failure != null) {
            failure = null;
            LOG.log(INFO, "Permits in Redis: connected again");
        }
    }

    /**
     * Ends early when a connection was made again: it may lead to another server than before, as after a fail-over. Members
     * are not served while their subscription is on another server than their claims.
     */
    private void pause(Duration length) throws InterruptedException {
        boolean ignored = reconnected.tryAcquire(length.toMillis(), TimeUnit.MILLISECONDS);
        if (isClosed()) {
            throw new InterruptedException();
        }
    }

    private void detach() {
        Attachment old = attachment;
        attachment = null;
        if (old != null) {
            old.close();
        }
    }

    private boolean isClosed() {
        return closed.getCount() == 0;
    }

    @Override
    public void close() {
        closed.countDown();
        Thread tending = thread;
        if (tending == null || tending == Thread.currentThread()) {
            return;
        }
        tending.interrupt(); // it may be connecting
        try {
            tending.join(FAREWELL.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
