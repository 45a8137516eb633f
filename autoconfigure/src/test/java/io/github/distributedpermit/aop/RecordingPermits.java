package io.github.distributedpermit.aop;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.PermitState;
import io.github.distributedpermit.PermitToken;
import io.github.distributedpermit.Permits;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** An application's own permits, without any limit: writes down what is taken and returned. */
class RecordingPermits implements Permits {

    final List<String> events = new CopyOnWriteArrayList<>();
    final List<PermitRequest> requests = new CopyOnWriteArrayList<>();
    final List<String> threads = new CopyOnWriteArrayList<>();
    final AtomicInteger asked = new AtomicInteger();

    /** What ends calls instead of a permit. */
    volatile @Nullable RuntimeException failure;

    /** What an asynchronous call gets. */
    CompletableFuture<Permit> granted(Permit permit) {
        return CompletableFuture.completedFuture(permit);
    }

    /** Called with each return. */
    void onRelease(String key) {
        events.add("-" + key);
    }

    @Override
    public NamedPermits named(String name) {
        return new Named(name);
    }

    private final class Named implements NamedPermits {

        private final String name;

        Named(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public Permit acquire(PermitRequest request) {
            asked.incrementAndGet();
            RuntimeException ended = failure;
            if (ended != null) {
                throw ended;
            }
            events.add("+" + request.key());
            requests.add(request);
            threads.add(Thread.currentThread().getName());
            return new Recorded(name, request);
        }

        @Override
        public Permit acquireUninterruptibly(PermitRequest request) {
            return acquire(request);
        }

        @Override
        public CompletableFuture<PermitState> stateAsync(String key) {
            return CompletableFuture.completedFuture(new PermitState(1, 0, 0));
        }

        @Override
        public CompletableFuture<Permit> acquireAsync(PermitRequest request) {
            RuntimeException ended = failure;
            return ended == null ? granted(acquire(request)) : CompletableFuture.failedFuture(ended);
        }
    }

    private final class Recorded implements Permit {

        private final String name;
        private final PermitRequest request;

        Recorded(String name, PermitRequest request) {
            this.name = name;
            this.request = request;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public String key() {
            return request.key();
        }

        @Override
        public int permits() {
            return request.permits();
        }

        @Override
        public PermitToken token() {
            return new PermitToken(1, 1);
        }

        @Override
        public boolean isHeld() {
            return true;
        }

        @Override
        public void onLoss(Runnable listener) {}

        @Override
        public boolean release() {
            onRelease(request.key());
            return true;
        }
    }
}
