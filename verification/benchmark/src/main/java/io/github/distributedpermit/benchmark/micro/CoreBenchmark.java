package io.github.distributedpermit.benchmark.micro;

import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.benchmark.load.Gate;
import io.github.distributedpermit.benchmark.ours.OurContender;
import io.github.distributedpermit.benchmark.ours.Settings;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.endpoint.PermitEvents;
import io.github.distributedpermit.endpoint.PermitHistory;
import io.github.distributedpermit.endpoint.StackCallers;
import io.github.distributedpermit.metrics.MicrometerPermitObserver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The core without Spring and without a network: a pair through the local backend, with meters, with the endpoint and without both, and
 * one that never leaves the core.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
@SuppressWarnings("NullAway.Init") // set by JMH
public class CoreBenchmark {

    private OurContender plain;
    private OurContender lingering;
    private OurContender metered;
    private OurContender observed;
    private OurContender exposed;
    private Gate throughStore;
    private Gate withMetrics;
    private Gate withEvents;
    private Gate withEndpoint;
    private Gate ofMethod;
    private Gate withinCore;
    private Gate handedOver;

    /** Joins. */
    @Setup
    public void join() {
        plain = new OurContender(new LocalPermitBackend(), CoreSettings.DEFAULTS, () -> {});
        lingering = new OurContender(new LocalPermitBackend(), Settings.of("linger: 1ms"), () -> {});
        throughStore = plain.gate("through-store", 10);
        metered = new OurContender(
                new LocalPermitBackend(),
                CoreSettings.DEFAULTS,
                new Observers(List.of(new MicrometerPermitObserver(new SimpleMeterRegistry()))),
                () -> {});
        withMetrics = metered.gate("with-metrics", 10);
        observed = new OurContender(new LocalPermitBackend(), CoreSettings.DEFAULTS, ofEndpoint(), () -> {});
        withEvents = observed.gate("with-events", 10);
        exposed = new OurContender(new LocalPermitBackend(), CoreSettings.DEFAULTS, ofEndpoint(), () -> {})
                .describingCallers(new StackCallers(() -> null, System::nanoTime));
        withEndpoint = exposed.gate("with-endpoint", 10);
        ofMethod = exposed.gate(
                PermitRequest.builder("of-method")
                        .calledBy("com.example.Reports.export")
                        .build(),
                10);
        withinCore = lingering.gate("within-core", 10);
        handedOver = plain.gate("handed-over", 1);
    }

    /** What the endpoint has notified of events. */
    private static Observers ofEndpoint() {
        return new Observers(List.of(new PermitEvents(Clock.systemUTC()), new PermitHistory(System::nanoTime)));
    }

    /** Leaves. */
    @TearDown
    public void leave() throws Exception {
        plain.close();
        metered.close();
        observed.close();
        exposed.close();
        lingering.close();
    }

    /** Two claims. */
    @Benchmark
    public void pairThroughTheLocalBackend() throws Exception {
        throughStore.leave(throughStore.enter());
    }

    /** Two claims, with the meters that an application with Micrometer has. */
    @Benchmark
    public void pairThroughTheLocalBackendWithMetrics() throws Exception {
        withMetrics.leave(withMetrics.enter());
    }

    /** Two claims, with the observers of an exposed endpoint. */
    @Benchmark
    public void pairThroughTheLocalBackendWithEvents() throws Exception {
        withEvents.leave(withEvents.enter());
    }

    /** The same, and who makes the call in code, as in an application that exposes the endpoint. */
    @Benchmark
    public void pairThroughTheLocalBackendWithEndpoint() throws Exception {
        withEndpoint.leave(withEndpoint.enter());
    }

    /** The same for a call that says its method, as that of an annotated one. */
    @Benchmark
    public void pairThroughTheLocalBackendOfAMethodWithEndpoint() throws Exception {
        ofMethod.leave(ofMethod.enter());
    }

    /** None: the permit lingers. */
    @Benchmark
    public void pairWithinTheCore() throws Exception {
        withinCore.leave(withinCore.enter());
    }

    /** The permit passes from thread to thread. */
    @Benchmark
    @Threads(4)
    public void handOverBetweenFourThreads() throws Exception {
        handedOver.leave(handedOver.enter());
    }
}
