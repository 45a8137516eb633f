package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.harness.member.MemberMain;
import io.github.distributedpermit.jvm.ClassArchive;
import io.github.distributedpermit.testsupport.Once;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

/**
 * Where members have their classes from: the class path of the harness, with jars in the place of its directories, and an
 * archive for quick starts. Prepared once for all runs, by the first member. Immutable.
 */
public final class MemberClasses {

    private static final int CAPACITY = 1_000;

    private static final Once<MemberClasses> PREPARED = new Once<>(MemberClasses::new);

    private final List<String> options;

    private MemberClasses() {
        try {
            Path classes = Path.of(MemberMain.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            Path folder = Files.createDirectories(classes.resolveSibling("member-classes"));
            List<String> classpath = List.of("-cp", jars(folder));
            ClassArchive archive = new ClassArchive(folder.resolve("classes.jsa"));
            List<String> recording = new ArrayList<>(archive.recording());
            recording.addAll(classpath);
            shortLife(folder, recording);
            List<String> all = new ArrayList<>(archive.options());
            all.addAll(classpath);
            options = List.copyOf(all);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (Exception e) {
            throw new IllegalStateException("The classes of members could not be prepared", e);
        }
    }

    /**
     * Options of a JVM that runs a member.
     *
     * @param patches folders of classes and scripts that take the place of the library's own; with them a start is not quick,
     *     since an archive belongs to one class path
     */
    public static List<String> options(List<Path> patches) {
        if (patches.isEmpty()) {
            return PREPARED.get().options;
        }
        return List.of(
                "-cp",
                Stream.concat(patches.stream().map(Path::toString), Stream.of(System.getProperty("java.class.path")))
                        .collect(Collectors.joining(File.pathSeparator)));
    }

    private static String jars(Path folder) throws IOException {
        List<String> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (entry.isEmpty() || !Files.exists(Path.of(entry))) {
                continue; // an empty entry is the working directory, which has no classes
            }
            if (Files.isDirectory(Path.of(entry))) {
                Path jar = folder.resolve(entries.size() + ".jar");
                pack(Path.of(entry), jar);
                entries.add(jar.toString());
            } else {
                entries.add(entry);
            }
        }
        return String.join(File.pathSeparator, entries);
    }

    private static void pack(Path directory, Path jar) throws IOException {
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file);
                Stream<Path> files = Files.walk(directory)) {
            for (Path each : files.filter(Files::isRegularFile).toList()) {
                String name = directory.relativize(each).toString().replace(File.separatorChar, '/');
                out.putNextEntry(new ZipEntry(name));
                Files.copy(each, out);
                out.closeEntry();
            }
        }
    }

    /** The start of a member with Redis, some calls, and its end. */
    private static void shortLife(Path folder, List<String> recording) throws Exception {
        try (RedisStore store = RedisStore.start();
                MemberProcess member = new MemberProcess(
                        0,
                        folder.resolve("history"),
                        CAPACITY,
                        folder.resolve("recording.log"),
                        recording,
                        store.settings(),
                        Map.of())) {
            member.awaitAnswer();
            member.ask("drain 1 1");
            member.quit();
        }
    }
}
