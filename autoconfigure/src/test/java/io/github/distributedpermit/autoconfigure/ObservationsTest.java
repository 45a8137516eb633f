package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.plain;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.observation.DefaultPermitWaitConvention;
import io.github.distributedpermit.observation.ObservingPermitObserver;
import io.github.distributedpermit.observation.PermitWaitConvention;
import io.github.distributedpermit.spi.PermitBackend;
import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Waits and holds as observations, as a tracer sees them. */
class ObservationsTest {

    private final CuttableBackend backend = new CuttableBackend();
    private final Recorder recorder = new Recorder();
    private final ObservationRegistry registry = ObservationRegistry.create();
    private final ApplicationContextRunner runner = on(backend);

    private ApplicationContextRunner on(PermitBackend store) {
        return plain().withConfiguration(AutoConfigurations.of(DistributedPermitObservationAutoConfiguration.class))
                .withBean("own", PermitBackend.class, () -> store)
                .withBean(ObservationRegistry.class, () -> registry)
                .withInitializer(CommandTimeout.ofMillis(100))
                .withPropertyValues("distributed-permit.permits.export.limit=1");
    }

    @Test
    void waitAndHoldAreChildrenOfTheCallersObservation() {
        registry.observationConfig().observationHandler(recorder);
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            Observation.createNotStarted("request", registry).observe(() -> {
                try (Permit permit = acquire(permits)) {
                    assertThat(permit.isHeld()).isTrue();
                    assertThat(recorder.stopped)
                            .extracting(Observation.Context::getName)
                            .containsExactly("distributed.permit.waiting");
                }
            });
            await().until(() -> recorder.stopped.size() == 3);
            assertThat(recorder.stopped)
                    .extracting(Observation.Context::getName)
                    .containsExactly("distributed.permit.waiting", "distributed.permit.holding", "request");
            assertThat(recorder.stopped.subList(0, 2)).allSatisfy(observed -> {
                assertThat(observed.getParentObservation()).isNotNull();
                assertThat(value(observed, "name")).isEqualTo("export");
                assertThat(value(observed, "key")).isEqualTo("export");
            });
            assertThat(value(recorder.stopped.get(0), "outcome")).isEqualTo("granted");
            assertThat(value(recorder.stopped.get(1), "outcome")).isEqualTo("released");
            assertThat(registry.getCurrentObservation()).isNull();
        });
    }

    @Test
    void everyWaitEndsWithItsOutcome() {
        registry.observationConfig().observationHandler(recorder);
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            Permit held = permits.acquire("export");
            assertThatExceptionOfType(PermitRejectedException.class)
                    .isThrownBy(() -> permits.acquire("export", Duration.ofMillis(10)));
            CompletableFuture<Permit> cancelled = permits.acquireAsync("export");
            cancelled.cancel(false);
            await().until(() -> recorder.outcomes().contains("abandoned"));
            held.release();
            backend.line = CuttableBackend.Line.CUT;
            assertThatExceptionOfType(PermitBackendException.class).isThrownBy(() -> permits.tryAcquire("export"));
            assertThat(recorder.outcomes()).contains("granted", "released", "timed_out", "abandoned", "failed");
            await().until(() -> recorder.started.size() == recorder.stopped.size());
            assertThat(recorder.stopped.stream().map(ObservationsTest::trace))
                    .noneMatch(text -> text.contains("canary"));
        });
    }

    /** Boot has a handler that makes a timer of each observation. */
    @Test
    void observationsAddNoMetersToTheDocumentedOnes() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        registry.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
        runner.withBean(SimpleMeterRegistry.class, () -> meters).run(context -> {
            context.getBeanProvider(MeterFilter.class).forEach(meters.config()::meterFilter);
            context.getBean(Permits.class).acquire("export").release();
            await().until(() -> meters.get("distributed.permit.hold").timer().count() == 1);
            assertThat(meters.getMeters())
                    .extracting(meter -> meter.getId().getName())
                    .noneMatch(name -> name.contains("waiting") || name.contains("holding"));
        });
    }

    @Test
    void lossEndsWithItsOutcome() {
        registry.observationConfig().observationHandler(recorder);
        runner.withPropertyValues("distributed-permit.lease=300ms").run(context -> {
            Permit held = context.getBean(Permits.class).acquire("export");
            backend.line = CuttableBackend.Line.SILENT;
            await().until(() -> !held.isHeld());
            await().until(() -> recorder.events.contains("lost"));
            held.release();
            assertThat(recorder.outcomes()).contains("lost");
            // Else closing the context waits for the member's farewell.
            backend.line = CuttableBackend.Line.GOOD;
        });
    }

    @Test
    void conventionsCanBeReplaced() {
        registry.observationConfig().observationHandler(recorder);
        PermitWaitConvention own = new DefaultPermitWaitConvention() {
            @Override
            public String getName() {
                return "queue";
            }
        };
        on(new LocalPermitBackend())
                .withBean(PermitWaitConvention.class, () -> own)
                .run(context -> {
                    context.getBean(Permits.class).acquire("export").release();
                    await().untilAsserted(() -> assertThat(recorder.stopped)
                            .extracting(Observation.Context::getName)
                            .contains("queue", "distributed.permit.holding"));
                });
    }

    @Test
    void handlerThatThrowsDoesNotReachTheCall() {
        registry.observationConfig().observationHandler(new ObservationHandler<>() {
            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }

            @Override
            public void onStart(Observation.Context context) {
                throw new IllegalStateException("the tracer is broken");
            }
        });
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            permits.acquire("export").release();
            assertThat(permits.tryAcquire("export")).hasValueSatisfying(Permit::release);
        });
    }

    @Test
    void nothingIsObservedWithoutMicrometersObservations() {
        plain().withConfiguration(AutoConfigurations.of(DistributedPermitObservationAutoConfiguration.class))
                .withClassLoader(new FilteredClassLoader(ObservationRegistry.class))
                .withPropertyValues("distributed-permit.backend=local", "distributed-permit.permits.export.limit=1")
                .run(context -> {
                    context.getBean(Permits.class).acquire("export").release();
                    assertThat(context).doesNotHaveBean(ObservingPermitObserver.class);
                });
    }

    private static Permit acquire(Permits permits) {
        try {
            return permits.acquire("export");
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String value(Observation.Context context, String key) {
        KeyValue low = context.getLowCardinalityKeyValue(key);
        KeyValue any = low != null ? low : context.getHighCardinalityKeyValue(key);
        return any == null ? "" : any.getValue();
    }

    /** What a tracer may write down. */
    private static String trace(Observation.Context context) {
        StringWriter text = new StringWriter();
        Throwable error = context.getError();
        if (error != null) {
            error.printStackTrace(new PrintWriter(text));
        }
        return text + context.getAllKeyValues().toString();
    }

    private static final class Recorder implements ObservationHandler<Observation.Context> {

        final List<Observation.Context> started = new CopyOnWriteArrayList<>();
        final List<Observation.Context> stopped = new CopyOnWriteArrayList<>();
        final List<String> events = new CopyOnWriteArrayList<>();

        @Override
        public void onStart(Observation.Context context) {
            started.add(context);
        }

        @Override
        public void onEvent(Observation.Event event, Observation.Context context) {
            events.add(event.getName());
        }

        @Override
        public void onStop(Observation.Context context) {
            stopped.add(context);
        }

        List<String> outcomes() {
            return stopped.stream().map(each -> value(each, "outcome")).toList();
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }
    }
}
