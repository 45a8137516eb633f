package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.harness.member.MemberMain;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A member in a process of its own, as its master sees it. Confined to the master's thread. */
public final class MemberProcess implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 240;

    private final int number;
    private final Process process;
    private final BufferedWriter commands;
    private final BufferedReader answers;
    private CompletableFuture<String> answer;

    /**
     * Starts it; {@link #awaitAnswer} tells when it is ready.
     *
     * @param classes options with which its JVM finds its classes, see {@link MemberClasses}
     * @param environment what its environment has besides ours
     */
    MemberProcess(
            int number,
            Path log,
            int capacity,
            Path output,
            List<String> classes,
            List<String> settings,
            Map<String, String> environment) {
        this.number = number;
        List<String> line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xms64m",
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-Djava.net.preferIPv4Stack=true"));
        line.addAll(classes);
        line.addAll(List.of(
                MemberMain.class.getName(), Integer.toString(number), log.toString(), Integer.toString(capacity)));
        line.addAll(settings);
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.appendTo(output.toFile()));
            builder.environment().putAll(environment);
            process = builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        commands = process.outputWriter(StandardCharsets.UTF_8);
        answers = process.inputReader(StandardCharsets.UTF_8);
        answer = CompletableFuture.supplyAsync(this::read);
    }

    private String read() {
        try {
            String line = answers.readLine();
            return line == null ? "ended" : line;
        } catch (IOException e) {
            return "ended";
        }
    }

    /** Its number in the history. */
    public int number() {
        return number;
    }

    /** Tells it something. */
    public void tell(String command) {
        try {
            commands.write(command);
            commands.newLine();
            commands.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("Member " + number + " is gone", e);
        }
        answer = CompletableFuture.supplyAsync(this::read);
    }

    /** Its answer to the last command. */
    public String awaitAnswer() throws Exception {
        String text = answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (text.equals("ended") || text.startsWith("failed")) {
            throw new IllegalStateException("Member " + number + ": " + text);
        }
        return text;
    }

    /** Both. */
    public String ask(String command) throws Exception {
        tell(command);
        return awaitAnswer();
    }

    /** SIGKILL; returns the instant of it. */
    public long kill() {
        long at = System.nanoTime();
        process.destroyForcibly();
        process.onExit().join();
        return at;
    }

    /** SIGTERM; waits for its end and returns how many nanoseconds that took. */
    public long terminate() {
        long at = System.nanoTime();
        process.toHandle().destroy(); // Process.destroy would end its input as well, which tells it that we are gone
        process.onExit().join();
        return System.nanoTime() - at;
    }

    /** SIGSTOP. */
    public void stop() {
        Signals.stop(process.pid());
    }

    /** SIGCONT. */
    public void resume() {
        Signals.resume(process.pid());
    }

    /** Whether the process lives. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Lets it leave in order. */
    public void quit() throws Exception {
        ask("quit");
        process.onExit().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        if (process.isAlive()) {
            kill();
        }
    }
}
