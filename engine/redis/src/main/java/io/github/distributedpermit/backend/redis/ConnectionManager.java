package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the member connected to Redis. Its thread makes the connection for claims and the Pub/Sub subscription, and
 * replaces a connection that is lost, does not respond or leads to a server that is no longer the master. Calls are
 * held until the first attempt to connect has ended, and are sent or fail at once afterwards. If attempts fail without
 * a reason, up to {@value #ATTEMPTS_WITHOUT_REASON} of them count as the first.
 *
 * <p>{@link #submitCall}, {@link #problem} and {@link #close} may be called by any thread; only {@code close} waits,
 * for less than a second. Everything else runs on the manager's thread, except {@link #masterMoved}.
 *
 * <p>{@link RedisPermitStore} creates and uses it. On its thread it calls {@link Connector}, {@link
 * GrantSubscription} and {@link NameKeys}, whose blocking steps are all bounded. The thread must survive every
 * error, since no other thread would connect again. Code of the core runs on it when calls are delivered or failed,
 * and when the store can be reached again; that code never blocks.
 */
final class ConnectionManager implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ConnectionManager.class.getName());
    /**
     * Between two checks of the connections. A lost connection ends the pause at once; a silent one is found by the
     * checks.
     */
    private static final long CHECK_MILLIS = 250;
    /** Below the second that a store may take to close. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofMillis(800);

    /** After so many failed attempts without a reason, held calls are released and fail. */
    private static final int ATTEMPTS_WITHOUT_REASON = 3;

    /** Confined to the thread of this class, except for what its documentation excludes. */
    private final Connector connector;

    private final GrantSubscription subscription;
    private final Function<SharedConnection, ClaimPipeline> pipelines;
    private final NameKeys names;
    /** Ends the pauses of the core after failed claims. */
    private final Runnable reachable;

    /** Empty once the first attempts have ended. */
    private final PendingCalls pendingCalls = new PendingCalls();

    private final ReconnectPause reconnectPause = new ReconnectPause();
    /** Also has the state of being closed. */
    private final WorkSignal signal;
    /** Written by the thread of this class only; {@code null} while there is no connection. */
    private volatile @Nullable ClaimPipeline current;
    /** Why the last attempt failed; {@code null} while everything works. Calls without a connection fail with it. */
    private volatile @Nullable PermitStoreException failure;
    /** Failed attempts without a reason; see {@link Failures#hasNoReason}. */
    private int attemptsWithoutReason;
    /** Whether the connection for claims was fine when the present attempt went on to the subscription. */
    private boolean subscribing;
    /** {@code null} before {@link #start}. */
    private @Nullable Thread thread;

    /**
     * Creates the manager, which connects to nothing before {@link #start}.
     *
     * @param signal ends the pauses of the thread; the connector uses it when a connection is lost
     * @param pipelines makes the pipeline of a new connection
     * @param names has the member's name written
     * @param reachable runs whenever a new connection can be used
     */
    ConnectionManager(
            Connector connector,
            GrantSubscription subscription,
            WorkSignal signal,
            Function<SharedConnection, ClaimPipeline> pipelines,
            NameKeys names,
            Runnable reachable) {
        this.connector = connector;
        this.subscription = subscription;
        this.signal = signal;
        this.pipelines = pipelines;
        this.names = names;
        this.reachable = reachable;
    }

    /** A daemon thread, so that it does not keep the process alive. */
    void start(String threadName) {
        connector.onMasterChange(this::masterMoved);
        Thread started = new Thread(this::run, threadName);
        started.setDaemon(true);
        thread = started;
        started.start();
    }

    /**
     * Passes the call to the next step on the present connection, or fails it. Before the first connection it is
     * held. Runs on the thread of the caller, which must not be blocked: no connection is made here.
     */
    <C extends Call<?>> void submitCall(C call, BiConsumer<ClaimPipeline, C> nextStep) {
        if (pendingCalls.isReleased() || !pendingCalls.holdCall(call, () -> deliverCall(call, nextStep))) {
            deliverCall(call, nextStep);
        }
    }

    private <C extends Call<?>> void deliverCall(C call, BiConsumer<ClaimPipeline, C> nextStep) {
        ClaimPipeline to = current;
        PermitStoreException reason = failure;
        if (signal.isClosed()) {
            call.failUnsent("This member has left Redis");
        } else if (to != null) {
            nextStep.accept(to, call);
        } else if (reason != null) {
            call.completeExceptionally(reason);
        } else {
            call.failUnsent("Redis can't be reached yet");
        }
    }

    /** The present connection; {@code null} if there is none. For the readable names, which need no pipeline. */
    @Nullable
    SharedConnection connection() {
        ClaimPipeline present = current;
        return present == null ? null : present.connection();
    }

    /**
     * Why permits do not work as they should; empty if they do. A connection that fails for a moment is no problem:
     * only the age of the last confirmed subscription counts, or a permanent reason why there is none.
     */
    Optional<String> problem() {
        PermitStoreException known = failure;
        Optional<String> late = subscription.problem();
        boolean refused = known != null && known.isPermanent() && current != null;
        if (late.isEmpty() && refused) {
            late = Optional.of("no notifications from Redis");
        }
        // claims are answered then; otherwise Redis may be away, and nothing is granted
        String effect = known == null || refused ? ": permits are granted late" : "";
        return late.map(problem -> problem + (known == null ? "" : " (" + known.getMessage() + ")") + effect);
    }

    /** An {@link InterruptedException} ends the loop, because only {@link #close} interrupts this thread. */
    private void run() {
        try {
            while (!signal.isClosed()) {
                try {
                    keepConnected();
                    keepSubscribed();
                    pendingCalls.releaseCalls(); // after subscribing: a member without a subscription is passed over
                    reportSuccess();
                    signal.awaitWork(CHECK_MILLIS);
                } catch (RuntimeException | Error | ExecutionException | TimeoutException e) {
                    // also an Error such as OutOfMemoryError, because no other thread would connect again
                    recover(e);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // closed
        } finally {
            signal.close();
            disconnect();
        }
    }

    /** Replaces the connection if it has to be replaced, and makes one if there is none. */
    private void keepConnected() throws InterruptedException, ExecutionException, TimeoutException {
        subscribing = false;
        dropUselessConnection();
        ClaimPipeline present = current;
        SharedConnection next = present == null ? connector.connect() : connector.replacementFor(present.connection());
        if (next != null) {
            if (present != null) {
                // The subscription is made again by keepSubscribed(), on the server of the new connection.
                subscription.close(); // the reason to replace the one connection applies to the other
            }
            adoptConnection(next);
        } else if (present != null) {
            // Batches that could not be sent because of an error wait for a thread that tries again.
            openIfChosenAgain(present);
            present.resumeSending();
        }
    }

    /**
     * A server that was closed as a former master and made the master again, before it followed the other one, would refuse claims for
     * ever. It refuses once more for each attempt, so this is repeated until one of them is answered.
     */
    private void openIfChosenAgain(ClaimPipeline present) {
        long vote = connector.chosenBy(present.connection());
        if (vote != MasterLocator.NO_VOTE && present.connection().serverClosed.getAndSet(false)) {
            present.openServer(vote);
        }
    }

    /** Calls fail at once from here on, instead of waiting for the time-outs of a connection that cannot answer. */
    private void dropUselessConnection() {
        ClaimPipeline present = current;
        if (present == null) {
            return;
        }
        if (!connector.isMaster(present.connection())) {
            // The new master has no record of the claims that the old one answers. The subscription is closed as well,
            // because its connection may be open even if this one is down.
            PermitStoreException why = notMaster();
            reportFailure(why);
            subscription.close();
            closeIfReplaced(present);
            replacePipeline(null, why);
        } else if (present.connection().isDown()) {
            PermitStoreException why = PermitStoreException.passing("The connection to Redis was lost", null);
            reportFailure(PermitStoreException.passing("Redis can't be reached: the connection is down", null));
            replacePipeline(null, why);
            // The server may be down because another one has taken its place.
            connector.recheckMaster();
            if (reconnectPause.lost(System.nanoTime())) {
                throw PermitStoreException.passing("Redis closes the connection soon after it is made", null);
            }
        }
    }

    /** The claims of the old connection fail, and the core repeats them over the new one. */
    private void adoptConnection(SharedConnection next) {
        try {
            replacePipeline(
                    pipelines.apply(next),
                    PermitStoreException.passing("The connection to Redis was given up and made again", null));
        } finally {
            if (connection() != next) { // an error came before; no other component would close it
                next.retire();
            }
        }
        if (!connector.isMaster(next)) { // another master was named before masterMoved could see this connection
            PermitStoreException why = notMaster();
            replacePipeline(null, why);
            throw why;
        }
        reconnectPause.connected(System.nanoTime());
        reachable.run();
    }

    private static PermitStoreException notMaster() {
        return PermitStoreException.passing("The server is not the master any more", null);
    }

    /**
     * From now on calls use this pipeline and its connection.
     *
     * @param why the failure of the claims that the old pipeline has not finished
     */
    private void replacePipeline(@Nullable ClaimPipeline next, PermitStoreException why) {
        ClaimPipeline old = current;
        current = next;
        if (old != null) {
            old.retire(why);
        }
    }

    /** After the connection for claims, because the subscription has to be on the same server. */
    private void keepSubscribed() throws InterruptedException, ExecutionException, TimeoutException {
        ClaimPipeline present = current;
        if (present != null) {
            subscribing = true;
            subscription.keepSubscribed(present.connection());
            names.keep(present.connection());
        }
    }

    /**
     * Gives up a connection to the former master, whose answers must not count. Runs on any thread, because the thread
     * of this class may be busy for seconds. Each step runs although an error ends the one before it.
     */
    private void masterMoved() {
        ClaimPipeline present = current;
        try {
            if (present != null && !connector.isMaster(present.connection())) {
                try {
                    closeIfReplaced(present);
                } finally {
                    present.retire(notMaster());
                }
            }
        } finally {
            // The thread of this class may be in a pause after a failed attempt to reach the former master.
            signal.retryAtOnce();
        }
    }

    /**
     * A server that was replaced for certain grants no more permits to members that still use it. Only with a vote of
     * the Sentinels: without one it is not certain that another server is the master, and closing the only one would
     * stop all grants.
     */
    private void closeIfReplaced(ClaimPipeline present) {
        long vote = connector.replacedBy(present.connection());
        if (vote != MasterLocator.NO_VOTE) {
            present.closeServer(vote);
        }
    }

    /**
     * After an error each step may fail with another error; none of them may end the thread.
     *
     * @param e what has ended the last attempt
     */
    private void recover(Throwable e) throws InterruptedException {
        try {
            reportFailure(e);
        } catch (RuntimeException | Error again) {
            // the reason can't be reported; the next attempt matters more
        }
        try {
            if (!Failures.hasNoReason(e) || ++attemptsWithoutReason >= ATTEMPTS_WITHOUT_REASON) {
                pendingCalls.releaseCalls();
            }
        } catch (RuntimeException | Error again) {
            // the calls that are still held are released after the next attempt
        }
        try {
            signal.pauseBeforeRetry(reconnectPause.takeMillis());
        } catch (RuntimeException | Error again) {
            // the next attempt follows without a pause
        }
    }

    /**
     * Only the first failure in a row is logged, and the first permanent one; the end of the row is logged by {@link
     * #reportSuccess}. At the shutdown of an application its factory stops before the permits do, which is no failure.
     */
    private void reportFailure(Throwable e) {
        PermitStoreException before = failure;
        PermitStoreException reason = Failures.ofAttempt(e, before);
        failure = reason; // before the log, which may fail
        boolean isNews = before == null || (reason.isPermanent() && !before.isPermanent());
        if (isNews && !signal.isClosed() && !connector.isStoppedByApplication()) {
            // Another failure while subscribing, such as a time-out, may be that of the whole server.
            boolean onlyNotifications = subscribing && (reason.isPermanent() || e instanceof PermitStoreException);
            LOG.log(
                    WARNING,
                    onlyNotifications
                            ? "Redis does not notify this instance of its permits: {0}. Permits work, but calls that "
                                    + "wait get them by polling, up to a second after their turn; the library subscribes "
                                    + "again every 500 ms or sooner until that works{1}"
                            : "Permits in Redis do not work: {0}. Calls that need a permit wait for their time-out or "
                                    + "fail; the library retries every 500 ms or sooner until Redis works again{1}",
                    reason.getMessage(),
                    reason.isPermanent() ? ". Waiting alone will not help: change the server or the settings" : "");
        }
    }

    /**
     * The pauses restart only after a connection that has lasted, so that a server which accepts and closes
     * connections is not asked in a hot loop.
     */
    private void reportSuccess() {
        long now = System.nanoTime();
        if (reconnectPause.hasLasted(now) && subscription.hasLasted(now)) {
            reconnectPause.restart();
        }
        if (failure != null) {
            failure = null;
            LOG.log(INFO, "Permits in Redis work again: connected and subscribed");
        }
    }

    /**
     * Runs each step although the one before it failed: above all the connections must be closed. Runs on the thread
     * of this class, at its end.
     */
    private void disconnect() {
        try {
            pendingCalls.releaseCalls();
            SharedConnection present = connection();
            if (present != null) {
                names.delete(present);
            }
        } finally {
            try {
                connector.close(); // with all connections
            } finally {
                try {
                    replacePipeline(null, PermitStoreException.passing("This member has left Redis", null));
                } finally {
                    subscription.close();
                }
            }
        }
    }

    /** Closes the connections, and waits for less than a second until they are. */
    @Override
    public void close() {
        signal.close();
        Thread started = thread;
        if (started == null || started == Thread.currentThread()) {
            return;
        }
        started.interrupt(); // it may be connecting
        try {
            started.join(CLOSE_TIMEOUT.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
