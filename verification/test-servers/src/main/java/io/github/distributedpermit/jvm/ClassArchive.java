package io.github.distributedpermit.jvm;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Class data sharing for the JVMs that tests start: one of them records the classes that it has loaded, and those that are
 * started later map them into memory. That saves more than half of the processor time of a start. Immutable; the file belongs
 * to the caller.
 */
public final class ClassArchive {

    private final Path file;

    /**
     * Records nothing yet.
     *
     * @param file replaced when a JVM records
     */
    public ClassArchive(Path file) {
        this.file = file.toAbsolutePath();
    }

    /**
     * Options of the JVM that records. It writes the file when it ends in order, SIGTERM included. Its class path may name no
     * directory.
     */
    public List<String> recording() {
        return List.of("-XX:ArchiveClassesAtExit=" + file);
    }

    /**
     * Options of JVMs that use what was recorded, with the same class path. None if there is no file: a JDK that has no archive
     * of its own records nothing. Where the archive does not fit, the JVM loads its classes as usual.
     */
    public List<String> options() {
        return Files.isReadable(file)
                // standard output belongs to the application
                ? List.of("-XX:SharedArchiveFile=" + file, "-Xlog:disable", "-Xlog:all=warning:stderr")
                : List.of();
    }
}
