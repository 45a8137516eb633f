package io.github.distributedpermit.ui;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.http.MediaType;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Streams for Spring MVC. A write blocks its thread while the browser does not read, so that each stream can have a daemon
 * thread; threads without work end. Thread-safe.
 */
final class ServletEventStreams implements EventStreams, DisposableBean {

    private static final int IDLE_SECONDS = 10;

    private static final MediaType TEXT = new MediaType("text", "plain", StandardCharsets.UTF_8);

    private final Semaphore free = new Semaphore(MOST);
    private final Set<Stream> open = ConcurrentHashMap.newKeySet();
    private final ScheduledThreadPoolExecutor threads;
    private final StateFormat format;
    private volatile boolean running = true;

    ServletEventStreams(StateFormat format) {
        this.format = format;
        threads = new ScheduledThreadPoolExecutor(MOST, task -> {
            Thread thread = new Thread(task, "distributed-permit-ui");
            thread.setDaemon(true);
            return thread;
        });
        threads.setRemoveOnCancelPolicy(true);
        threads.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        threads.allowCoreThreadTimeOut(true);
    }

    @Override
    public SseEmitter stream(Supplier<LiveState> states) {
        if (!free.tryAcquire()) {
            throw new IllegalStateException("There are " + MOST + " live pages of this instance already");
        }
        Stream stream = new Stream(states);
        open.add(stream);
        // After the addition: either the stop finds this stream, or this sees the stop.
        if (!running) {
            stream.end();
            throw new IllegalStateException("This instance stops");
        }
        stream.begin();
        return stream.emitter;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        open.forEach(Stream::finish);
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public void destroy() {
        threads.shutdownNow();
    }

    /** One open page. */
    private final class Stream {

        private final SseEmitter emitter = new SseEmitter(LIFE_MILLIS);
        private final AtomicBoolean ended = new AtomicBoolean();
        private final Supplier<LiveState> states;
        private volatile @Nullable ScheduledFuture<?> sending;

        Stream(Supplier<LiveState> states) {
            this.states = states;
            emitter.onCompletion(this::end);
            emitter.onTimeout(() -> {
                end();
                emitter.complete();
            });
            emitter.onError(failure -> end());
        }

        void begin() {
            ScheduledFuture<?> task =
                    threads.scheduleWithFixedDelay(this::send, 0, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
            sending = task;
            if (ended.get()) {
                task.cancel(false); // the end came before there was something to cancel
            }
        }

        private void send() {
            try {
                Object data = format.format(states.get());
                emitter.send(SseEmitter.event().data(data, data instanceof String ? TEXT : MediaType.APPLICATION_JSON));
            } catch (IOException | RuntimeException e) {
                end(); // an emitter that fails before its response begins makes no call of its own
                emitter.completeWithError(e); // the page has been closed, or the instance is about to stop
            }
        }

        /** Does not block, while the completion waits for a write to a browser that does not read. */
        void finish() {
            end();
            threads.execute(emitter::complete);
        }

        void end() {
            if (ended.compareAndSet(false, true)) {
                ScheduledFuture<?> task = sending;
                if (task != null) {
                    task.cancel(false);
                }
                open.remove(this);
                free.release();
            }
        }
    }
}
