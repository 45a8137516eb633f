package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.prometheusserver.PrometheusBinaries;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** The dashboard, the alert rules, the queries of the page and {@code compose.yaml} fit each other and what is scraped. */
class MonitoringFilesTest {

    private static final Path FOLDER = Path.of("..", "docs", "monitoring");
    static final Path RULES = FOLDER.resolve("rules.yml");
    private static final Pattern METRIC = Pattern.compile("distributed_permit_\\w+");

    @Test
    void everyMetricOfTheDashboardIsScraped() throws IOException {
        String dashboard = Files.readString(FOLDER.resolve("dashboard.json"));
        List<String> queries = JsonPath.read(dashboard, "$..expr");
        assertThat(queries).hasSizeGreaterThan(12);
        assertThat(metrics(dashboard)).isNotEmpty().isSubsetOf(scraped());
        List<Integer> ids = JsonPath.read(dashboard, "$.panels[*].id");
        assertThat(ids).doesNotHaveDuplicates();
    }

    @Test
    void everyMetricOfTheRulesAndOfTheQueriesIsScraped() throws IOException {
        assertThat(metrics(Files.readString(RULES))).isNotEmpty().isSubsetOf(scraped());
        String page = Files.readString(Path.of("..", "docs", "metrics.md"));
        String queries = page.substring(page.indexOf("## Questions and queries"));
        assertThat(metrics(queries)).isNotEmpty().isSubsetOf(scraped());
    }

    @Test
    void promtoolAcceptsTheRulesAndTheConfiguration() throws IOException, InterruptedException {
        for (List<String> check : List.of(
                List.of("check", "rules", RULES.toString()),
                List.of("check", "config", FOLDER.resolve("prometheus.yml").toString()))) {
            ProcessBuilder command =
                    new ProcessBuilder(PrometheusBinaries.tool().toString()).redirectErrorStream(true);
            command.command().addAll(check);
            Process process = command.start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(output).isZero();
        }
    }

    @Test
    @SuppressWarnings("unchecked")
    void composeFileMountsWhatIsThereAndListensOnThisMachineOnly() throws IOException {
        Map<String, Object> compose = new Yaml().load(Files.readString(FOLDER.resolve("compose.yaml")));
        Map<String, Map<String, Object>> services = (Map<String, Map<String, Object>>) compose.get("services");
        assertThat(services).containsOnlyKeys("redis", "prometheus", "grafana").allSatisfy((name, service) -> {
            assertThat((String) service.get("image")).as(name).matches("[a-z/]+:v?\\d[\\w.-]+");
            assertThat((List<String>) service.get("ports"))
                    .as(name)
                    .isNotEmpty()
                    .allSatisfy(port -> assertThat(port).matches("127\\.0\\.0\\.1:(\\d+):\\1"));
            assertThat((List<String>) service.getOrDefault("volumes", List.of()))
                    .as(name)
                    .allSatisfy(volume -> assertThat(FOLDER.resolve(volume.substring(0, volume.indexOf(':'))))
                            .isRegularFile());
        });
        Map<String, Object> source = new Yaml().load(Files.readString(FOLDER.resolve("grafana/datasource.yml")));
        assertThat(source.toString()).contains("http://prometheus:9090", "uid=prometheus");
        Map<String, Object> boards = new Yaml().load(Files.readString(FOLDER.resolve("grafana/dashboards.yml")));
        assertThat(boards.toString()).contains("/etc/grafana/permits");
    }

    private static Set<String> metrics(String text) {
        return METRIC.matcher(text)
                .results()
                .map(match -> match.group())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** The names of all samples of an application that has used a permit. */
    private static Set<String> scraped() {
        Set<String> names = new TreeSet<>();
        Starts.local()
                .withBean(PrometheusMeterRegistry.class, () -> new PrometheusMeterRegistry(PrometheusConfig.DEFAULT))
                .withPropertyValues("distributed-permit.permits.export.limit=1")
                .run(context -> {
                    context.getBean(Permits.class).acquire("export").release();
                    String scrape =
                            context.getBean(PrometheusMeterRegistry.class).scrape();
                    names.addAll(scrape.lines()
                            .filter(line -> !line.startsWith("#"))
                            .map(line -> line.replaceAll("[ {].*", ""))
                            .collect(Collectors.toSet()));
                });
        return names;
    }
}
