package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.packages.DebianPackages;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;

/**
 * Another wall clock for a process, by libfaketime: it can be set while the process runs, and leaves the monotonic clock
 * alone. The process has set its clock within a second or two.
 */
public final class WrongClock {

    /**
     * libfaketime takes the JVM's waits, which are by the monotonic clock, for such by the wall clock, and ends them at
     * once. Our copy does not have the function of that name, so that the JVM finds that of the C library.
     */
    private static final String TOO_MUCH = "pthread_cond_timedwait";

    private static final String SOMETHING_ELSE = "pthread_cond_timedwaiX";

    private final Path library;
    private final Path clock;

    private WrongClock(Path library, Path clock) {
        this.library = library;
        this.clock = clock;
    }

    /** Keeps what it needs in the folder; at first it is as wrong as that. */
    public static WrongClock in(Path folder, Duration offset) {
        Path original =
                DebianPackages.file(DebianPackages.unpacked("libfaketime", "libfaketime"), "libfaketimeMT.so.1");
        Path absolute = folder.toAbsolutePath();
        try {
            String bytes = Files.readString(original, StandardCharsets.ISO_8859_1);
            Path library = Files.writeString(
                    absolute.resolve("libfaketime.so"),
                    bytes.replace(TOO_MUCH, SOMETHING_ELSE),
                    StandardCharsets.ISO_8859_1);
            WrongClock wrong = new WrongClock(library, absolute.resolve("clock"));
            wrong.set(offset);
            return wrong;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** From soon on it is as wrong as that. */
    public void set(Duration offset) {
        try {
            Path next = Files.writeString(clock.resolveSibling("clock.next"), "%+d%n".formatted(offset.toSeconds()));
            Files.move(next, clock, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Map<String, String> environment() {
        return Map.of(
                "LD_PRELOAD", library.toString(),
                "FAKETIME_TIMESTAMP_FILE", clock.toString(),
                "FAKETIME_CACHE_DURATION", "1",
                "FAKETIME_DONT_FAKE_MONOTONIC", "1",
                "DONT_FAKE_MONOTONIC", "1");
    }
}
