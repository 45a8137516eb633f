package io.github.distributedpermit.packages;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What is in packages of Debian, fetched once from this machine's own mirror. */
public final class DebianPackages {

    private static final String CURRENT = "bookworm";
    private static final String ROOT = "root";

    private DebianPackages() {}

    /** The folder into which packages of Debian 12 are unpacked; the name is that of all of them together. */
    public static Path unpacked(String name, String... packages) {
        return unpackedOf(CURRENT, name, List.of(packages));
    }

    /** The folder into which packages of another release are unpacked. */
    public static Path unpackedOf(String release, String name, List<String> packages) {
        return Kept.folder(name, folder -> Files.isDirectory(folder.resolve(ROOT)), folder -> {
                    if (!fetch(folder, release, packages.toArray(String[]::new))) {
                        throw new IllegalStateException(
                                "Debian's packages could not be fetched; see " + folder.resolve("fetch.log"));
                    }
                })
                .resolve(ROOT);
    }

    /** Unpacks packages of a release below {@code root} in the folder; whether they could be had. */
    public static boolean fetch(Path folder, String release, String... packages) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(release));
        arguments.addAll(List.of(packages));
        return Kept.runs(folder, "debian-packages.sh", arguments.toArray(String[]::new));
    }

    /** The one file of that name below the folder. */
    public static Path file(Path folder, String name) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.getFileName().toString().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("There is no " + name + " below " + folder));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
