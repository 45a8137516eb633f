package io.github.distributedpermit.benchmark.fleet;

import io.github.distributedpermit.benchmark.load.Workload;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One process of a fleet, as its master sees it. Confined to the master's thread. */
public final class Worker implements AutoCloseable {

    private final Process process;
    private final BufferedWriter commands;
    private final BufferedReader answers;

    Worker(Stores stores, int number) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> line = new ArrayList<>(List.of(java, "-Xms128m", "-Xmx384m", "-XX:+UseSerialGC"));
        line.add("-Djava.net.preferIPv4Stack=true");
        Transport.arguments().forEach(line::add);
        line.addAll(List.of("-cp", System.getProperty("java.class.path"), WorkerMain.class.getName()));
        line.addAll(List.of(stores.asArgument(), Integer.toString(number)));
        process = new ProcessBuilder(line)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        commands = process.outputWriter(StandardCharsets.UTF_8);
        answers = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Gives it a workload, whose calls it notes on this board. */
    void assign(Path board, int events, Workload work) throws IOException {
        List<String> command = new ArrayList<>(List.of("assign", board.toString(), Integer.toString(events)));
        for (long value : new long[] {
            work.threads(),
            work.processes(),
            work.keys(),
            work.limit(),
            work.hold().toNanos() / 1000,
            work.pause().toNanos() / 1000,
            work.slice().toNanos() / 1000
        }) {
            command.add(Long.toString(value));
        }
        tell(command.toArray(String[]::new));
    }

    /** Tells it a command. */
    public void tell(String... command) throws IOException {
        commands.write(String.join("\t", command));
        commands.newLine();
        commands.flush();
    }

    /** Waits until it has finished its last command. */
    public void done() throws IOException {
        String answer = answers.readLine();
        if (!"ok".equals(answer)) {
            throw new IllegalStateException("A worker " + (answer == null ? "has died" : answer));
        }
    }

    /** {@code kill -9}. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    @Override
    public void close() throws IOException {
        try {
            commands.close(); // its input ends, so it ends
            if (!process.waitFor(3, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            process.destroyForcibly(); // it is dead already
        }
    }
}
