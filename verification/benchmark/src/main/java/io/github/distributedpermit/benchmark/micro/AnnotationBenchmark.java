package io.github.distributedpermit.benchmark.micro;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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
import org.openjdk.jmh.annotations.Warmup;

/** A limited call that does nothing: advice, core and the local backend, beside the annotations of others. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
@SuppressWarnings("NullAway.Init") // set by JMH
public class AnnotationBenchmark {

    private LimitedApplication application;
    private LimitedService service;

    /** Starts the application. */
    @Setup
    public void start() {
        application = LimitedApplication.start();
        service = application.service();
    }

    /** Stops it. */
    @TearDown
    public void stop() {
        application.close();
    }

    /** This project. */
    @Benchmark
    public void distributedPermit() {
        service.ours();
    }

    /** Spring Framework. */
    @Benchmark
    public void concurrencyLimit() {
        service.concurrencyLimit();
    }

    /** Resilience4j. */
    @Benchmark
    public void bulkhead() {
        service.bulkhead();
    }

    /** This project, with a stage. */
    @Benchmark
    public Object distributedPermitStage() {
        return service.oursStage().join();
    }

    /** Resilience4j, with a stage. */
    @Benchmark
    public Object bulkheadStage() {
        return service.bulkheadStage().toCompletableFuture().join();
    }

    /** This project, with a {@code Mono}. */
    @Benchmark
    public @Nullable Object distributedPermitMono() {
        return service.oursMono().block();
    }

    /** Resilience4j, with a {@code Mono}. */
    @Benchmark
    public @Nullable Object bulkheadMono() {
        return service.bulkheadMono().block();
    }

    /** The JDK. */
    @Benchmark
    public void semaphore() {
        service.semaphore();
    }
}
