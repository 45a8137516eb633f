package io.github.distributedpermit.backend.zookeeper;

import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.ports.FreePorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Three servers in processes of their own, so that they can be stopped by a signal without closing their connections. */
final class ServerProcesses implements AutoCloseable {

    private static final int SERVERS = 3;
    private static final Duration SOON = Duration.ofSeconds(60);

    private final List<Integer> ports = FreePorts.some(SERVERS * 3);
    private final List<Process> processes = new ArrayList<>();

    /**
     * @param tick in milliseconds
     * @param syncLimit ticks after which a leader that receives nothing from its followers gives up its rank
     */
    ServerProcesses(Path folder, int tick, int syncLimit) {
        try {
            for (int server = 0; server < SERVERS; server++) {
                processes.add(
                        start(Files.createDirectories(folder.resolve("server-" + server)), server, tick, syncLimit));
            }
            await().atMost(SOON).until(() -> leader() >= 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Process start(Path folder, int server, int tick, int syncLimit) throws IOException {
        List<String> lines = new ArrayList<>(List.of(
                "tickTime=" + tick,
                "initLimit=" + syncLimit,
                "syncLimit=" + syncLimit,
                "dataDir=" + folder,
                "clientPort=" + ports.get(server),
                "clientPortAddress=127.0.0.1",
                "admin.enableServer=false",
                "4lw.commands.whitelist=srvr"));
        for (int other = 0; other < SERVERS; other++) {
            lines.add("server.%d=127.0.0.1:%d:%d"
                    .formatted(other, ports.get(SERVERS + other), ports.get(2 * SERVERS + other)));
        }
        Files.writeString(folder.resolve("myid"), String.valueOf(server));
        Path configuration = Files.write(folder.resolve("zoo.cfg"), lines);
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                        configuration.toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("log").toFile())
                .start();
    }

    private int leader() {
        for (int server = 0; server < SERVERS; server++) {
            if (mode(server).contains("Mode: leader")) {
                return server;
            }
        }
        return -1;
    }

    private String mode(int server) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), ports.get(server))) {
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            return "";
        }
    }

    /** For a client that is connected to the leader and to no other server. */
    String leaderAddress() {
        return "127.0.0.1:" + ports.get(leader());
    }

    /** The followers answer nothing any more, and all connections stay open. */
    void freezeFollowers() {
        int leader = leader();
        for (int server = 0; server < SERVERS; server++) {
            if (server != leader) {
                signal(processes.get(server), "-STOP");
            }
        }
    }

    private static void signal(Process process, String signal) {
        try {
            int code = new ProcessBuilder("kill", signal, String.valueOf(process.pid()))
                    .start()
                    .waitFor();
            if (code != 0) {
                throw new IllegalStateException("kill " + signal + " ended with " + code);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Also ends a process that is stopped. */
    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
    }
}
