package io.github.distributedpermit.harness.mutant;

import io.github.distributedpermit.core.key.PlantedMistakes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Puts a mistake into a folder that members have in front of their classpath. */
@FunctionalInterface
interface Patch {

    /** Writes what is to take the place of the library's own. */
    void into(Path folder) throws IOException;

    /** A mistake in the compiled core, by its name there. */
    static Patch core(String mistake) {
        return folder -> PlantedMistakes.write(mistake, folder);
    }

    /** A script of the Redis backend in which some text, which must be there once, is another. */
    static Patch script(String script, String right, String wrong) {
        String resource = "io/github/distributedpermit/backend/redis/" + script + ".lua";
        return folder -> {
            Path file = folder.resolve(resource);
            String text = Files.exists(file) ? Files.readString(file) : read(resource);
            if (text.split(java.util.regex.Pattern.quote(right), -1).length != 2) {
                throw new IllegalStateException(resource + " has not exactly one '" + right + "'");
            }
            Files.createDirectories(file.getParent());
            Files.writeString(file, text.replace(right, wrong));
        };
    }

    /** A mistake that takes changes in several places. */
    default Patch and(Patch other) {
        return folder -> {
            into(folder);
            other.into(folder);
        };
    }

    private static String read(String resource) throws IOException {
        try (InputStream in = Patch.class.getClassLoader().getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("There is no " + resource);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
