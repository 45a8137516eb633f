package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.local;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permits;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of metrics in {@code docs/metrics.md} names all meters, as they are registered and scraped. */
class MetricsPageTest {

    private static final Path PAGE = Path.of("..", "docs", "metrics.md");
    private static final Pattern ROW = Pattern.compile(
            "^\\| `(distributed\\.permit[a-z.]+)` \\| (gauge|timer|counter) \\| `([a-z_]+)` \\| ([^|]*) \\|",
            Pattern.MULTILINE);
    private static final Pattern FAMILY = Pattern.compile("^# TYPE (distributed_permit_\\w+) \\w+$", Pattern.MULTILINE);

    private final List<MatchResult> rows = rows();

    @Test
    void tableNamesAllMetersWithTheirKindAndTags() {
        run(registry -> {
            Map<String, String> registered = new TreeMap<>();
            for (Meter meter : registry.getMeters()) {
                if (meter.getId().getName().startsWith("distributed.permit.")) {
                    registered.put(meter.getId().getName(), kind(meter) + " " + tags(meter));
                }
            }
            assertThat(documented(row -> row.group(2) + " " + names(row.group(4))))
                    .isEqualTo(registered);
        });
    }

    @Test
    void tableNamesWhatPrometheusScrapes() {
        run(registry -> {
            Set<String> scraped = FAMILY.matcher(registry.scrape())
                    .results()
                    .map(family -> family.group(1))
                    .collect(Collectors.toCollection(TreeSet::new));
            Set<String> named = rows.stream()
                    .flatMap(row -> row.group(2).equals("timer")
                            ? Stream.of(row.group(3), row.group(3) + "_max")
                            : Stream.of(row.group(3)))
                    .collect(Collectors.toCollection(TreeSet::new));
            assertThat(named).isEqualTo(scraped);
        });
    }

    private static void run(Consumer<PrometheusMeterRegistry> check) {
        local().withBean(PrometheusMeterRegistry.class, () -> new PrometheusMeterRegistry(PrometheusConfig.DEFAULT))
                .withPropertyValues("distributed-permit.permits.export.limit=1")
                .run(context -> {
                    context.getBean(Permits.class).acquire("export").release();
                    check.accept(context.getBean(PrometheusMeterRegistry.class));
                });
    }

    private static String kind(Meter meter) {
        return switch (meter.getId().getType()) {
            case GAUGE -> "gauge";
            case TIMER -> "timer";
            case COUNTER -> "counter";
            default -> throw new AssertionError(meter.getId());
        };
    }

    private static Set<String> tags(Meter meter) {
        return meter.getId().getTags().stream().map(Tag::getKey).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> names(String cell) {
        return Pattern.compile("`(\\w+)`")
                .matcher(cell)
                .results()
                .map(tag -> tag.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private Map<String, String> documented(Function<MatchResult, String> value) {
        return rows.stream()
                .collect(Collectors.toMap(row -> row.group(1), value, (one, other) -> one + other, TreeMap::new));
    }

    private static List<MatchResult> rows() {
        try {
            return ROW.matcher(Files.readString(PAGE)).results().toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
