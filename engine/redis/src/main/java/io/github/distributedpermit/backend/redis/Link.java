package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Keeps the member connected: one thread makes the connection for claims and the subscription, and replaces what is lost,
 * silent or leads to a server that is not the master any more. Until its first attempt has ended calls wait for it: an
 * application that asks right after its start is not told that the store is down. Afterwards they go out at once or fail at
 * once.
 */
final class Link implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Link.class.getName());
    private static final long TICK_MILLIS = 250;
    private static final long FIRST_PAUSE_MILLIS = 50;
    private static final long LONGEST_PAUSE_MILLIS = 500;
    private static final Duration FAREWELL = Duration.ofMillis(800);
    private static final long DEAF_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Connector connector;
    private final Ear ear;
    private final Duration watch;
    private final Runnable reachable;
    private final Anteroom anteroom = new Anteroom(this::deliver);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Semaphore woken = new Semaphore(0);
    private volatile @Nullable Attachment attachment;
    private volatile @Nullable PermitStoreException failure;

    /** When the subscription was last known to work. */
    private volatile long heardAt = System.nanoTime();

    private @Nullable Attachment subscribedBeside;
    private @Nullable Thread thread;

    Link(
            LettuceConnectionFactory factory,
            RedisSettings settings,
            Ear ear,
            Silence silence,
            Supplier<Outbox> outboxes,
            Runnable reachable) {
        this.connector = new Connector(
                factory, settings.commandTimeout(), ear.channel(), silence, outboxes, this::wake, this::masterMoved);
        this.ear = ear;
        this.watch = settings.watch();
        this.reachable = reachable;
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

    @Nullable
    Attachment attachment() {
        return attachment;
    }

    /** Why permits do not work as they should; empty if they do. */
    Optional<String> problem() {
        PermitStoreException known = failure;
        long deaf = System.nanoTime() - heardAt;
        if (deaf <= DEAF_NANOS + watch.toNanos()) {
            return Optional.empty();
        }
        return Optional.of("no notifications from Redis for " + TimeUnit.NANOSECONDS.toSeconds(deaf)
                + " s: permits are granted late" + (known == null ? "" : " (" + known.getMessage() + ")"));
    }

    private void tend() {
        long pause = FIRST_PAUSE_MILLIS;
        try {
            while (!isClosed()) {
                try {
                    keepConnected();
                    keepSubscribed();
                    anteroom.open(); // a member that waits and can't be notified would lose its place
                    healed();
                    pause = FIRST_PAUSE_MILLIS;
                    pause(TICK_MILLIS);
                } catch (RuntimeException | Error | ExecutionException | TimeoutException e) {
                    // also without memory or threads: nothing else would ever connect again
                    recover(e, pause);
                    pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // closed
        } finally {
            closed.countDown();
            leave();
        }
    }

    /** After an error each step may fail with another one; none of them may end the thread. */
    private void recover(Throwable e, long pause) throws InterruptedException {
        try {
            failed(e);
        } catch (RuntimeException | Error again) {
            // not even the reason can be told; what counts is that it is tried again
        }
        try {
            anteroom.open();
        } catch (RuntimeException | Error again) {
            // who still waits there goes on after the next attempt
        }
        try {
            pause(pause);
        } catch (RuntimeException | Error again) {
            // then without a pause
        }
    }

    /** Each step although the one before it failed: above all the connections must not stay. */
    private void leave() {
        try {
            anteroom.open();
        } finally {
            try {
                ear.close();
            } finally {
                try {
                    replace(null, PermitStoreException.passing("This member has left Redis", null));
                } finally {
                    connector.close();
                }
            }
        }
    }

    private void keepConnected() throws InterruptedException, ExecutionException, TimeoutException {
        Attachment to = attachment;
        if (to != null && !connector.isMaster(to)) {
            // claims it still answers would be unknown to the new master; if the connection is down as well, the
            // subscription may still be open
            failed(PermitStoreException.passing("The server is not the master any more", null));
            ear.close();
            replace(null, PermitStoreException.passing("The server is not the master any more", null));
        } else if (to != null && to.isDown()) {
            failed(PermitStoreException.passing("Redis can't be reached: the connection is down", null));
            replace(null, PermitStoreException.passing("The connection to Redis was lost", null));
            connector.doubt();
        }
        Attachment present = attachment;
        Attachment next = present == null ? connector.connect() : connector.successor(present);
        if (next != null) {
            if (present != null) {
                ear.close(); // what made the one connection useless holds for the other
            }
            replace(next, PermitStoreException.passing("The connection to Redis was given up and made anew", null));
            if (!connector.isMaster(next)) { // since it was made, when masterMoved could not see it yet
                PermitStoreException why = PermitStoreException.passing("The server is not the master any more", null);
                replace(null, why);
                throw why;
            }
            reachable.run();
        } else if (present != null) {
            present.outbox().resume(present);
        }
    }

    /**
     * What the known ex-master still answers must not count, and the thread that looks after the connection may be busy for
     * seconds. Runs on any thread.
     */
    private void masterMoved() {
        Attachment to = attachment;
        if (to != null && !connector.isMaster(to)) {
            to.retire(PermitStoreException.passing("The server is not the master any more", null));
        }
        wake();
    }

    /** From now on claims use this connection. */
    private void replace(@Nullable Attachment next, PermitStoreException why) {
        Attachment old = attachment;
        attachment = next;
        if (old != null) {
            old.retire(why);
        }
    }

    private void keepSubscribed() throws InterruptedException, ExecutionException, TimeoutException {
        Attachment beside = attachment;
        if (beside == null) {
            return;
        }
        boolean known = beside == subscribedBeside && ear.isOpen();
        long now = System.nanoTime();
        if (known && now - heardAt < watch.toNanos()) {
            return;
        }
        if (ear.isOpen() && !hears(beside)) {
            LOG.log(INFO, "The subscription to Redis receives nothing any more; subscribing anew");
            ear.close();
        }
        if (!ear.isOpen()) {
            ear.close();
            ear.open(connector.client(), beside.server(), this::wake, () -> connector.isMaster(beside));
            if (!hears(beside)) {
                ear.close();
                throw PermitStoreException.passing(
                        "Redis can't be reached: the subscription is not on the server that takes the claims", null);
            }
            if (beside != subscribedBeside) {
                EvictionPolicy.check(beside);
            }
        }
        subscribedBeside = beside;
        heardAt = System.nanoTime();
    }

    private boolean hears(Attachment beside) throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return ear.hears(beside);
        } catch (TimeoutException e) {
            beside.suspect();
            throw e;
        }
    }

    private void failed(Throwable e) {
        PermitStoreException reason = Failures.ofAttempt(e, failure);
        boolean first = failure == null;
        failure = reason; // before the log, which may fail
        if (first && !isClosed()) {
            LOG.log(WARNING, "Permits in Redis: {0}. Trying again until it works", reason.getMessage());
        }
    }

    private void healed() {
        if (failure != null) {
            failure = null;
            LOG.log(INFO, "Permits in Redis: connected again");
        }
    }

    /** Has the thread look at once. */
    private void wake() {
        woken.release();
    }

    private void pause(long millis) throws InterruptedException {
        woken.tryAcquire(millis, TimeUnit.MILLISECONDS);
        woken.drainPermits();
        if (isClosed()) {
            throw new InterruptedException();
        }
    }

    private boolean isClosed() {
        return closed.getCount() == 0;
    }

    @Override
    public void close() {
        closed.countDown();
        wake();
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
