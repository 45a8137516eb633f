package io.github.distributedpermit.core.key;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Mistakes as class files, for processes that are to have one: the folder goes in front of their classpath. */
public final class PlantedMistakes {

    private PlantedMistakes() {}

    /** Writes the classes of the core that have this mistake, a name of {@code Mutant}. */
    public static void write(String mutant, Path folder) throws IOException {
        for (Map.Entry<String, byte[]> changed :
                Mutant.valueOf(mutant).changedCode().entrySet()) {
            Path file = folder.resolve(changed.getKey().replace('.', '/') + ".class");
            Files.createDirectories(file.getParent());
            Files.write(file, changed.getValue());
        }
    }
}
