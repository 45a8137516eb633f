package io.github.distributedpermit.benchmark;

import io.github.distributedpermit.benchmark.report.Report;
import io.lettuce.core.RedisClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import org.redisson.Redisson;

/** What the figures were measured on. */
final class Machine {

    private Machine() {}

    static void describe(Report report, String redis) {
        report.setting("commit", Commit.current());
        report.setting("date", LocalDate.now(ZoneOffset.UTC).toString());
        report.setting(
                "machine",
                Runtime.getRuntime().availableProcessors() + " cores, " + processor() + ", "
                        + System.getProperty("os.name") + " " + System.getProperty("os.version") + ", loopback");
        report.setting("Java", Runtime.version().toString());
        report.setting("Redis server", redis);
        report.setting("clients", artifact(RedisClient.class) + ", " + artifact(Redisson.class) + ", all with NIO");
    }

    private static String processor() {
        try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("unknown processor");
        } catch (IOException e) {
            return System.getProperty("os.arch");
        }
    }

    /** Name and version, as its jar is called. */
    static String artifact(Class<?> type) {
        var source = type.getProtectionDomain().getCodeSource();
        if (source == null) {
            return type.getSimpleName();
        }
        String file = String.valueOf(Path.of(source.getLocation().getPath()).getFileName());
        return file.replaceFirst("\\.jar$", "");
    }
}
