package io.github.distributedpermit.harness.tenants;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitGroup;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import reactor.core.publisher.Mono;

/** What one member does in a run. Each method returns at its end, when nothing is held any more. */
class TenantLoad {

    /** A call that waits for so long waits for ever, and the run has failed. */
    private static final Duration FOR_EVER = Duration.ofSeconds(60);

    /** The limits between which that of the rolling change alternates. */
    static final int LOW = 4;

    static final int HIGH = 12;

    /** In seconds. */
    private static final int HALF_A_CYCLE = 8;

    private final Permits permits;
    private final Queue<Grant> grants = new ConcurrentLinkedQueue<>();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

    TenantLoad(Permits permits) {
        this.permits = permits;
    }

    List<Grant> grants() {
        return List.copyOf(grants);
    }

    List<Throwable> failures() {
        return List.copyOf(failures);
    }

    /** Eight threads take permits of random users within their tenants within all, in any order and in all ways. */
    void chains(long seed, long until) throws InterruptedException {
        threads(8, seed, until, this::chain);
    }

    /** The same with the outermost permit alone. */
    void alone(long seed, long until) throws InterruptedException {
        threads(8, seed, until, random -> {
            long arrived = System.nanoTime();
            try (Permit permit =
                    permits.named("all").acquire(PermitRequest.of("all").withTimeout(FOR_EVER))) {
                hold(random, arrived, List.of(permit.key()));
            }
        });
    }

    private void chain(Random random) throws InterruptedException, ExecutionException {
        int user = random.nextInt(20);
        PermitRequest ofUser = PermitRequest.builder("user-" + user)
                .name("user")
                .timeout(FOR_EVER)
                .build();
        PermitRequest ofTenant = PermitRequest.builder("tenant-" + user % 5)
                .name("tenant")
                .timeout(FOR_EVER)
                .build();
        long arrived = System.nanoTime();
        int way = random.nextInt(4);
        if (way < 2) {
            List<PermitRequest> both = new ArrayList<>(List.of(ofUser, ofTenant));
            Collections.shuffle(both, random);
            try (PermitGroup group = way == 0
                    ? permits.acquireAll(both)
                    : permits.acquireAllAsync(both).get()) {
                hold(random, arrived, group.permits().stream().map(Permit::key).toList());
            }
        } else {
            try (Permit permit = way == 2
                    ? permits.named("tenant").acquire(ofTenant)
                    : permits.named("tenant").acquireAsync(ofTenant).get()) {
                hold(random, arrived, List.of(permit.key(), "all"));
            }
        }
    }

    private void hold(Random random, long arrived, List<String> keys) {
        long granted = System.nanoTime();
        LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(4_000)));
        long released = System.nanoTime();
        keys.forEach(key -> grants.add(new Grant("call", key, arrived, granted, released)));
    }

    private void threads(int count, long seed, long until, Call call) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Random random = new Random(seed * 1_009 + i);
            Thread thread = new Thread(() -> {
                while (System.nanoTime() < until && failures.isEmpty()) {
                    try {
                        call.make(random);
                    } catch (Exception e) {
                        failures.add(e);
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /**
     * Eight threads take permits of one key all the time, while the limit that this member states changes between two: all members
     * change it one after the other, down and then up again.
     */
    void rolling(PermitCatalog catalog, int member, long seed, long until) throws InterruptedException {
        ScheduledExecutorService timer = new ScheduledThreadPoolExecutor(1);
        for (int half = 0; half * HALF_A_CYCLE < TimeUnit.NANOSECONDS.toSeconds(until - System.nanoTime()); half++) {
            int limit = half % 2 == 0 ? LOW : HIGH;
            timer.schedule(
                    () -> {
                        long before = System.nanoTime();
                        catalog.changeLimits(Map.of("rolling", limit));
                        long now = System.nanoTime();
                        grants.add(new Grant("to " + limit, "rolling", before, now, now));
                    },
                    half * HALF_A_CYCLE + member,
                    TimeUnit.SECONDS);
        }
        threads(8, seed, until, random -> {
            long arrived = System.nanoTime();
            try (Permit permit =
                    permits.named("rolling").acquire(PermitRequest.of("rolling").withTimeout(FOR_EVER))) {
                long granted = System.nanoTime();
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
                grants.add(new Grant("call", permit.key(), arrived, granted, System.nanoTime()));
            }
        });
        timer.shutdownNow();
    }

    private interface Call {
        void make(Random random) throws Exception;
    }

    /**
     * Keeps calls waiting for one key all the time, and makes an urgent call every few seconds.
     *
     * @param bulk how many calls wait
     * @param member its urgent calls come so many seconds after the beginning
     * @param members how many seconds apart they are
     */
    void urgent(int bulk, int member, int members, Duration headStart, long until) throws InterruptedException {
        ScheduledExecutorService timer = new ScheduledThreadPoolExecutor(2);
        Map<CompletableFuture<?>, Long> waiting = new ConcurrentHashMap<>();
        for (int i = 0; i < bulk; i++) {
            ask("bulk", Duration.ZERO, true, until, timer, waiting);
        }
        timer.scheduleAtFixedRate(
                () -> ask("urgent", headStart, false, until, timer, waiting),
                members + member,
                members,
                TimeUnit.SECONDS);
        TimeUnit.NANOSECONDS.sleep(until - System.nanoTime());
        waiting.forEach((call, arrived) -> {
            if (call.cancel(false)) {
                long now = System.nanoTime();
                grants.add(new Grant("unserved", "smtp", arrived, now, now));
            }
        });
        timer.shutdown();
        if (!timer.awaitTermination(60, TimeUnit.SECONDS)) {
            failures.add(new IllegalStateException("Calls go on"));
        }
    }

    private void ask(
            String kind,
            Duration headStart,
            boolean again,
            long until,
            ScheduledExecutorService timer,
            Map<CompletableFuture<?>, Long> waiting) {
        if (System.nanoTime() >= until) {
            return;
        }
        long arrived = System.nanoTime();
        CompletableFuture<Permit> call = permits.named("smtp")
                .acquireAsync(PermitRequest.builder("smtp").headStart(headStart).build());
        waiting.put(call, arrived);
        call.thenAccept(permit -> {
            long granted = System.nanoTime();
            waiting.remove(call);
            timer.schedule(
                    () -> {
                        grants.add(new Grant(kind, "smtp", arrived, granted, System.nanoTime()));
                        permit.release();
                        if (again) {
                            ask(kind, headStart, true, until, timer, waiting);
                        }
                    },
                    20,
                    TimeUnit.MILLISECONDS);
        });
    }

    /**
     * Many calls of a tenant, and a moment later ten of two others, evenly on all members.
     *
     * @param kind 0 for one queue, 1 for fair shares, 2 for a fixed limit of each tenant
     */
    void fair(int member, int kind) throws InterruptedException {
        List<CompletableFuture<Void>> calls = new ArrayList<>();
        ScheduledExecutorService timer = new ScheduledThreadPoolExecutor(4);
        for (int i = member; i < 1_000; i += 3) {
            calls.add(shared("a", kind, timer));
        }
        TimeUnit.MILLISECONDS.sleep(500);
        for (int i = member; i < 10; i += 3) {
            calls.add(shared("b", kind, timer));
            calls.add(shared("c", kind, timer));
        }
        calls.forEach(CompletableFuture::join);
        timer.shutdown();
    }

    private CompletableFuture<Void> shared(String tenant, int kind, ScheduledExecutorService timer) {
        long arrived = System.nanoTime();
        PermitRequest request = kind == 2
                ? PermitRequest.builder("fixed-" + tenant).name("fixed").build()
                : PermitRequest.builder("shared")
                        .fairBy(kind == 1 ? tenant : null)
                        .build();
        CompletableFuture<Void> ended = new CompletableFuture<>();
        permits.named(kind == 2 ? "fixed" : "shared").acquireAsync(request).whenComplete((permit, failure) -> {
            if (failure != null) {
                failures.add(failure);
                ended.complete(null);
                return;
            }
            long granted = System.nanoTime();
            timer.schedule(
                    () -> {
                        grants.add(new Grant(tenant, permit.key(), arrived, granted, System.nanoTime()));
                        permit.release();
                        ended.complete(null);
                    },
                    20,
                    TimeUnit.MILLISECONDS);
        });
        return ended;
    }

    /** One tenant calls, alone and then beside forty calls of another one, in code and by an annotation, with and without a thread. */
    void forty(Exports exports, long until) throws InterruptedException {
        List<Way> ways = List.of(
                new Way("code", () -> inCode("b")),
                new Way(
                        "code async",
                        () -> permits.named("tenant")
                                .acquireAsync(tenant("b"))
                                .get()
                                .release()),
                new Way("annotation", () -> exports.export("b", 0)),
                new Way("annotation future", () -> exports.exportLater("b").get()),
                new Way("annotation reactive", () -> exports.exportReactive("b").block()));
        ways.forEach(way -> measure(way, " alone"));
        List<Thread> others = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            Thread thread = new Thread(() -> {
                while (System.nanoTime() < until) {
                    exports.export("a", 50);
                }
            });
            others.add(thread);
            thread.start();
        }
        TimeUnit.SECONDS.sleep(1);
        ways.forEach(way -> measure(way, " beside"));
        for (Thread other : others) {
            other.join();
        }
    }

    private void inCode(String tenant) throws InterruptedException {
        permits.named("tenant").acquire(tenant(tenant)).release();
    }

    private static PermitRequest tenant(String name) {
        return PermitRequest.of("tenant-" + name);
    }

    private void measure(Way way, String when) {
        for (int i = 0; i < 150; i++) {
            long arrived = System.nanoTime();
            try {
                way.call.make();
            } catch (Exception e) {
                failures.add(e);
                return;
            }
            long granted = System.nanoTime();
            if (i >= 50) { // the first ones load classes
                grants.add(new Grant(way.name + when, "tenant-b", arrived, granted, granted));
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    private record Way(String name, OneCall call) {}

    private interface OneCall {
        void make() throws Exception;
    }

    /** Methods of tenants, whose total is a setting. */
    static class Exports {

        @DistributedPermit(key = "tenant-#{#tenant}", name = "tenant", limit = 3)
        public void export(String tenant, int millis) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
        }

        @DistributedPermit(key = "tenant-#{#tenant}", name = "tenant", limit = 3)
        public CompletableFuture<String> exportLater(String tenant) {
            return CompletableFuture.completedFuture(tenant);
        }

        @DistributedPermit(key = "tenant-#{#tenant}", name = "tenant", limit = 3)
        public Mono<String> exportReactive(String tenant) {
            return Mono.just(tenant);
        }
    }
}
