package io.github.distributedpermit.benchmark;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/** The commit of the checkout that is measured, as Git names it in the working directory. */
final class Commit {

    private static final String UNKNOWN = "unknown";

    private Commit() {}

    /** Abbreviated, with {@code -dirty} if files differ from it or are not part of it; unknown without Git. */
    static String current() {
        try {
            return name(git("rev-parse", "--short", "HEAD"), git("status", "--porcelain"));
        } catch (IOException e) {
            return UNKNOWN; // what is measured may have been copied without its repository
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return UNKNOWN;
        }
    }

    static String name(String commit, String changes) {
        return commit + (changes.isEmpty() ? "" : "-dirty");
    }

    private static String git(String... arguments) throws IOException, InterruptedException {
        List<String> command =
                Stream.concat(Stream.of("git"), Stream.of(arguments)).toList();
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + " ended with " + process.exitValue());
        }
        return answer;
    }
}
