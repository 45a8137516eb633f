package io.github.distributedpermit.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.example.endpoint.Exports;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.packages.DebianPackages;
import io.github.distributedpermit.ports.FreePorts;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;

/** {@code docs/monitoring/look.py} against real instances. */
class LookTest {

    private static final Path SCRIPT = Path.of("..", "docs", "monitoring", "look.py");
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @Test
    void showsWhatAllInstancesSay() throws Exception {
        String dead = "http://127.0.0.1:" + FreePorts.some(1).get(0);
        try (ConfigurableApplicationContext one = PermitsEndpointTest.start(
                        WebApplicationType.SERVLET, "distributed-permit.permits.free.unlimited=true");
                ConfigurableApplicationContext two = PermitsEndpointTest.start(
                        WebApplicationType.REACTIVE,
                        "distributed-permit.instance-name=two",
                        "distributed-permit.permits.report-export.limit=4")) {
            Exports exports = one.getBean(Exports.class);
            exports.export();
            exports.hold();
            PermitsEndpoint endpoint = two.getBean(PermitsEndpoint.class);
            endpoint.change("report-export", null, 3, null, null, "a contract\u001b", null, null);
            endpoint.drain(null, null, true, "odd name", "maintenance", null);
            try (Permit odd = one.getBean(Permits.class).named("odd name").acquire("odd key")) {
                assertThat(odd.isHeld()).isTrue();
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(look(address(one), dead, address(two) + "/actuator/permits"))
                                .contains(
                                        "orders@host-1:4711  store: ",
                                        "  report-export: 1 of 1 in use, 0 waiting; here 1 held for up to ",
                                        " s: call ",
                                        " of key report-export, com.example.endpoint.Exports.hold, thread ",
                                        ", which went on: the call is asynchronous\n",
                                        "  odd name: 1 of 2 in use, 0 waiting; here 1 held for up to ",
                                        dead + "  NO ANSWER: ",
                                        "\ntwo  store: ",
                                        "    limit 3 of key report-export since 20",
                                        ": a contract?\n",
                                        "    PAUSED: permit 'odd name' since 20",
                                        ": maintenance\n",
                                        "LIMITS DIFFER for report-export: 1 by orders@host-1:4711; 4 by two\n")
                                .containsPattern(
                                        " s, on average \\d+\\.\\d s, 0 waiting, rejected 0, failed 0\n    HELD for "));
            }
            exports.end();
        }
    }

    private static String address(ConfigurableApplicationContext context) {
        return "http://127.0.0.1:" + context.getEnvironment().getRequiredProperty("local.server.port");
    }

    private static String look(String... addresses) throws IOException, InterruptedException {
        ProcessBuilder command = python().redirectErrorStream(true);
        command.command().add(SCRIPT.toString());
        command.command().addAll(List.of(addresses));
        Process process = command.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }

    /** That of the PATH, or Debian's. */
    private static ProcessBuilder python() {
        boolean installed = Stream.of(
                        Objects.requireNonNull(System.getenv("PATH")).split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "python3")));
        if (installed) {
            return new ProcessBuilder(new ArrayList<>(List.of("python3")));
        }
        Path root = DebianPackages.unpacked(
                "python",
                "python3.11-minimal",
                "libpython3.11-minimal",
                "libpython3.11-stdlib",
                "libexpat1",
                "zlib1g",
                "libssl3");
        ProcessBuilder command = new ProcessBuilder(
                new ArrayList<>(List.of(root.resolve("usr/bin/python3.11").toString())));
        command.environment().put("PYTHONHOME", root.resolve("usr").toString());
        command.environment()
                .put(
                        "LD_LIBRARY_PATH",
                        DebianPackages.file(root, "libexpat.so.1").getParent() + ":"
                                + DebianPackages.file(root, "libssl.so.3").getParent() + ":"
                                + DebianPackages.file(root, "libz.so.1").getParent());
        return command;
    }
}
