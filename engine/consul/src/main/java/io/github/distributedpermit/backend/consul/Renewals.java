package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.snapshot.StoreEvents;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Renews the sessions of a member in rounds, three per TTL and at most four requests at a time, and reports since when all of
 * them are alive. The oldest confirmation counts: the core must not use a permit longer than the session that holds it, and it
 * does not know which one that is. Confined to the event loop.
 *
 * <p>The times are in {@link SessionLiveness}, which also has sessions whose creation is unanswered.
 */
final class Renewals {

    private static final System.Logger LOG = System.getLogger(Renewals.class.getName());
    /** Renewals that are under way at a time; also the failures in a row after which a round gives up. */
    private static final int AT_A_TIME = 4;

    private static final int PER_TTL = 3;
    /** The pause after a failed round. A third of a TTL would leave too few attempts before the session ends. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ConsulApi api;
    private final EventLoop loop;
    private final StoreEvents events;
    private final Function<Session, CompletableFuture<Boolean>> confirmLoss;
    private final RequestLimiter gate = new RequestLimiter(AT_A_TIME);
    /** Between two renewals of one session, in nanoseconds. */
    private final long pause;

    /**
     * @param confirmLoss is asked if one of the sessions seems to have ended
     * @param events receives since when all sessions are alive
     */
    Renewals(
            ConsulApi api,
            EventLoop loop,
            ConsulSettings settings,
            StoreEvents events,
            Function<Session, CompletableFuture<Boolean>> confirmLoss) {
        this.api = api;
        this.loop = loop;
        this.events = events;
        this.confirmLoss = confirmLoss;
        this.pause = settings.sessionTtl().toNanos() / PER_TTL;
    }

    /** For as long as the session lasts. The first renewal is a third of a TTL after the session was created. */
    void begin(Session session) {
        long made = session.liveness().oldest();
        loop.later(new Round(session, made)::begin, pause);
        events.alive(made);
    }

    /** The renewal of all sessions that are due. The next round begins when all answers are there. */
    private final class Round {

        private final Session session;
        private final SessionLiveness liveness;
        /** Since when all sessions are alive, as reported last. */
        private final long reported;

        /** A renewal of this round has failed. */
        private boolean failed;
        /** The next round was scheduled. */
        private boolean followed;
        /** Without a success in between. */
        private int failuresInARow;

        /** @param reported since when all are alive, as the listener has it */
        Round(Session session, long reported) {
            this.session = session;
            this.liveness = session.liveness();
            this.reported = reported;
        }

        /** Runs the round. */
        void begin() {
            guarded(this::run);
        }

        /** Whatever a part of the round throws, the next round follows: without renewals the session would end. */
        private void guarded(Runnable part) {
            EventLoop.run(part, failure -> {
                failed = true;
                next(reported);
            });
        }

        /** Renews what is due; the requests wait in the limiter if there are many. */
        private void run() {
            if (session.isOver()) {
                return;
            }
            // not only what is due now: those made one after the other are soon renewed together
            List<CompletableFuture<Void>> renewals = liveness.due(loop.now() - pause / 2).stream()
                    .map(id -> gate.enter(() -> renew(id)))
                    .toList();
            CompletableFuture.allOf(renewals.toArray(CompletableFuture[]::new))
                    .whenComplete((done, problem) -> guarded(() -> ended(problem)));
        }

        /**
         * Renews one session; the time of sending is its confirmation, since Consul may have renewed it at once. A
         * failed renewal is no loss: the session lives on until its TTL has passed, and the next round tries again.
         */
        private CompletableFuture<Void> renew(String id) {
            // where nothing gets through, the rest would only wait for their time-outs one after the other
            if (session.isOver() || failuresInARow >= AT_A_TIME) {
                return CompletableFuture.completedFuture(null);
            }
            long sent = loop.now();
            liveness.tried(id);
            // If the session has ended, its permits are gone, and the core does not distinguish sessions: the member
            // begins a
            // new one. If that is not confirmed, the session was not renewed.
            return api.renewSession(id)
                    .thenCompose(renewed -> renewed
                            ? CompletableFuture.completedFuture(true)
                            : confirmLoss.apply(session).thenApply(lost -> false))
                    .handle((renewed, problem) -> {
                        if (problem == null && renewed) {
                            liveness.renewed(id, sent);
                            failuresInARow = 0;
                        } else {
                            LOG.log(System.Logger.Level.DEBUG, "The session was not renewed", problem);
                            failed = true;
                            failuresInARow++;
                        }
                        return null;
                    });
        }

        /**
         * Schedules the next round, and then reports the oldest confirmation, if it has moved. The reported time never
         * falls, and it stays if any session was not renewed, so that the validity of all permits ends in time.
         */
        private void ended(@Nullable Throwable problem) {
            if (problem != null) {
                LOG.log(System.Logger.Level.WARNING, "A renewal of a session failed and will be repeated", problem);
                failed = true;
            }
            long alive = liveness.oldest();
            boolean moved = alive - reported > 0;
            next(moved ? alive : reported);
            if (moved && !session.isOver()) {
                events.alive(alive);
            }
        }

        /** Once; without effect if the session is over. */
        private void next(long alive) {
            if (followed || session.isOver()) {
                return;
            }
            // The session that was confirmed the longest ago determines the time, so that none waits for more than a
            // pause.
            long pauseNow = failed
                    ? Math.min(RETRY_NANOS, pause)
                    : Math.max(0, liveness.oldestConfirmed() + pause - loop.now());
            loop.later(new Round(session, alive)::begin, pauseNow);
            followed = true;
        }
    }
}
