package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.metrics.FleetRefresh;
import io.github.distributedpermit.metrics.FleetView;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;

/** What the meters of all instances cost with many keys, and what they show while the store does not answer. */
@ExtendWith(RedisExtension.class)
class FleetRefreshTest {

    private static final int KEYS = 10_000;
    private static final int MOST = 100;
    private static final Pattern CALLS = Pattern.compile("cmdstat_(\\w+)[^:]*:calls=(\\d+)");

    @Test
    void tenThousandKeysAddNoMeterAndOneRefreshReadsAHundred(RedisServer server) {
        Starts.plain()
                .withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withBean(SimpleMeterRegistry.class)
                .withPropertyValues(
                        "distributed-permit.backend=redis",
                        "spring.data.redis.port=" + server.port(),
                        "distributed-permit.lease=10m", // no renewals while commands are counted
                        "distributed-permit.metrics.fleet-refresh=1h",
                        "distributed-permit.permits.tenant.limit=1",
                        "distributed-permit.permits.other.limit=2")
                .run(context -> {
                    Permits permits = context.getBean(Permits.class);
                    PermitEngine engine = context.getBean(PermitEngine.class);
                    MeterRegistry registry = context.getBean(MeterRegistry.class);
                    NamedPermits tenant = permits.named("tenant");
                    Permit other = permits.acquire("other");
                    int meters = registry.getMeters().size();
                    List<CompletableFuture<Permit>> held = new ArrayList<>();
                    for (int i = 0; i < KEYS; i++) {
                        held.add(tenant.acquireAsync(PermitRequest.of("fleet-refresh-tenant-" + i)));
                    }
                    for (CompletableFuture<Permit> each : held) {
                        assertThat(each.get(60, TimeUnit.SECONDS).isHeld()).isTrue();
                    }
                    assertThat(registry.getMeters()).hasSize(meters);

                    FleetView view = context.getBean(FleetView.class);
                    FleetRefresh refresh =
                            new FleetRefresh(engine, name -> 1, name -> false, view, MOST, Duration.ofSeconds(30));
                    await("no claim is under way").until(() -> engine.status().unanswered() == 0);
                    long before = scripts(server);
                    refresh.refresh().get(60, TimeUnit.SECONDS);

                    assertThat(scripts(server) - before).isBetween((long) MOST, MOST + 20L);
                    assertThat(registry.getMeters()).hasSize(meters);
                    assertThat(keys(registry, "tenant", "inspected") + keys(registry, "other", "inspected"))
                            .isEqualTo(MOST);
                    assertThat(keys(registry, "tenant", "skipped")).isEqualTo(KEYS - MOST + 1);
                    assertThat(fleet(registry, "other", "holders")).isEqualTo(1);
                    assertThat(fleet(registry, "tenant", "holders")).isEqualTo(MOST - 1);
                    held.forEach(each -> each.join().release());
                    other.release();
                });
    }

    @Test
    void numbersAreNoneWhileTheStoreDoesNotAnswer() {
        CuttableBackend backend = new CuttableBackend();
        Starts.withBackend(backend)
                .withBean(SimpleMeterRegistry.class)
                .withInitializer(CommandTimeout.ofMillis(100))
                .withPropertyValues(
                        "distributed-permit.lease=60s",
                        "distributed-permit.metrics.fleet-refresh=100ms",
                        "distributed-permit.permits.export.limit=2")
                .run(context -> {
                    MeterRegistry registry = context.getBean(MeterRegistry.class);
                    Permit held = context.getBean(Permits.class).acquire("export");
                    await().until(() -> fleet(registry, "export", "holders") == 1);
                    for (CuttableBackend.Line line : List.of(
                            CuttableBackend.Line.SILENT, CuttableBackend.Line.CUT, CuttableBackend.Line.BROKEN)) {
                        backend.line = line;
                        await().until(() -> Double.isNaN(fleet(registry, "export", "holders")));
                        await().until(() -> keys(registry, "export", "skipped") == 1);
                        backend.line = CuttableBackend.Line.GOOD;
                        await().until(() -> fleet(registry, "export", "holders") == 1);
                    }
                    held.release();
                    await().until(() -> fleet(registry, "export", "holders") == 0);
                });
    }

    @Test
    void zeroSwitchesThemOff() {
        Starts.local()
                .withBean(SimpleMeterRegistry.class)
                .withPropertyValues(
                        "distributed-permit.metrics.fleet-refresh=0", "distributed-permit.permits.export.limit=2")
                .run(context -> {
                    context.getBean(Permits.class).acquire("export").release();
                    assertThat(context.getBean(MeterRegistry.class).getMeters())
                            .isNotEmpty()
                            .noneMatch(meter -> meter.getId().getName().contains("fleet"));
                });
    }

    private static double fleet(MeterRegistry registry, String permit, String name) {
        return registry.get("distributed.permit.fleet." + name)
                .tag("name", permit)
                .gauge()
                .value();
    }

    private static double keys(MeterRegistry registry, String permit, String state) {
        return registry.get("distributed.permit.fleet.keys")
                .tags("name", permit, "state", state)
                .gauge()
                .value();
    }

    /** How many scripts the server has run, by whichever command. */
    private static long scripts(RedisServer server) {
        return CALLS.matcher(server.ask(redis -> redis.info("commandstats")))
                .results()
                .filter(command -> command.group(1).matches("(eval|fcall).*"))
                .mapToLong(command -> Long.parseLong(command.group(2)))
                .sum();
    }
}
