package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.testsupport.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Records by {@code MONITOR} the commands of all clients of a server, and those of its scripts. Thread-safe. */
final class RedisMonitor implements AutoCloseable {

    private static final Pattern LINE =
            Pattern.compile("^\\+[0-9.]+ \\[\\d+ (\\S+)] \"([^\"]+)\"(?: \"([^\"]*)\")?.*", Pattern.DOTALL);

    /** A command with subcommands, each of which is a right. */
    private static final String CONTAINER = "pubsub";

    private final Socket socket;
    private final List<Call> calls = new CopyOnWriteArrayList<>();
    private final Thread thread = new Thread(this::listen, "redis-monitor");

    RedisMonitor(RedisServer server) {
        try {
            socket = new Socket("127.0.0.1", server.port());
            socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
            if (socket.getInputStream().read() != '+') {
                throw new IllegalStateException("The server can't be monitored");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        thread.setDaemon(true);
        thread.start();
    }

    private void listen() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Matcher call = LINE.matcher(line);
                if (call.matches()) {
                    calls.add(new Call(call.group(1).equals("lua"), command(call), System.nanoTime()));
                }
            }
        } catch (IOException e) {
            Thread.currentThread().interrupt(); // closed
        }
    }

    private static String command(Matcher call) {
        String command = call.group(2).toLowerCase(Locale.ROOT);
        return command.equals(CONTAINER) ? command + "|" + call.group(3).toLowerCase(Locale.ROOT) : command;
    }

    List<Call> calls() {
        return calls;
    }

    /** The commands of clients, or those of scripts. */
    Set<String> commands(boolean inScript) {
        return calls.stream()
                .filter(call -> call.inScript() == inScript)
                .map(Call::command)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * One command.
     *
     * @param inScript whether a script called it
     * @param command in lower case
     * @param nanos when it was received
     */
    record Call(boolean inScript, String command, long nanos) {}
}
