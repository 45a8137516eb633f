package io.github.distributedpermit.core;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Mistakes as class files, for processes that are to have one: the folder goes in front of their classpath. */
public final class PlantedMistakes {

    private PlantedMistakes() {}

    /** Writes the one class of the core that has this mistake, a name of {@code Mutant}. */
    public static void write(String mutant, Path folder) throws IOException {
        Mutant planted = Mutant.valueOf(mutant);
        Path file = folder.resolve(planted.changedClass().replace('.', '/') + ".class");
        Files.createDirectories(file.getParent());
        Files.write(file, planted.changedCode());
    }
}
