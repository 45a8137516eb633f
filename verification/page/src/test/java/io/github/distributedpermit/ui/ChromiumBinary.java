package io.github.distributedpermit.ui;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.opentest4j.TestAbortedException;

/**
 * Finds Chromium: on the path, or installed from Debian's package where this process may do that. Elsewhere the tests of the page
 * say loudly that they did not run, and fail where {@code CI} is {@code true}.
 */
final class ChromiumBinary {

    private static final List<String> NAMES = List.of("chromium", "chromium-browser", "google-chrome");

    private ChromiumBinary() {}

    static String find() {
        return onPath().or(ChromiumBinary::installed).orElseThrow(ChromiumBinary::missing);
    }

    private static Optional<String> onPath() {
        return Stream.of(System.getenv().getOrDefault("PATH", "/usr/bin").split(File.pathSeparator))
                .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst();
    }

    private static Optional<String> installed() {
        boolean root = "root".equals(System.getProperty("user.name"));
        if (!root || !Files.isExecutable(Path.of("/usr/bin/apt-get"))) {
            return Optional.empty();
        }
        run("apt-get", "update");
        run("apt-get", "install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core");
        return onPath();
    }

    private static void run(String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (!process.waitFor(5, TimeUnit.MINUTES)) {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static RuntimeException missing() {
        String why = "THE LIVE PAGE WAS NOT TESTED: there is no Chromium on the path, and it could not be installed. "
                + "Install it, for example with 'apt-get install chromium', and run the tests of 'ui' again.";
        System.err.println(why);
        return "true".equals(System.getenv("CI")) ? new IllegalStateException(why) : new TestAbortedException(why);
    }
}
