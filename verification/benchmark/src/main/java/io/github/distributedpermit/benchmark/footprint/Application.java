package io.github.distributedpermit.benchmark.footprint;

import io.github.distributedpermit.benchmark.fleet.Transport;
import io.github.distributedpermit.benchmark.servers.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The applications that are compared. */
public enum Application {
    /** Uses Redis, without this library. */
    REDIS(RedisApplication.class, ClassPath.redis()),
    /** Uses Redis and this library. */
    PERMIT(PermitApplication.class, ClassPath.redisAndStarter());

    private static final long END_SECONDS = 5;

    private final Class<?> main;
    private final List<Path> classPath;

    Application(Class<?> main, List<Path> classPath) {
        this.main = main;
        this.classPath = classPath;
    }

    /** Starts it in a JVM of its own, measures it, and ends it. */
    public Footprint measure(RedisServer redis) throws IOException, InterruptedException {
        Set<Long> others = redis.clients();
        ProcessBuilder builder =
                new ProcessBuilder(command(redis.port())).redirectError(ProcessBuilder.Redirect.INHERIT);
        long started = System.nanoTime();
        Process process = builder.start();
        try (BufferedReader answers = process.inputReader(StandardCharsets.UTF_8)) {
            String line = answers.readLine();
            if (line == null) {
                throw new IllegalStateException(main.getSimpleName() + " did not start; its log is above");
            }
            Set<Long> clients = new HashSet<>(redis.clients());
            clients.removeAll(others);
            return Footprint.parse(line, started, clients.size());
        } finally {
            process.outputWriter(StandardCharsets.UTF_8).close();
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        }
    }

    private List<String> command(int redisPort) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = new ArrayList<>(List.of(java, "-Xms64m", "-Xmx256m", "-XX:+UseSerialGC"));
        command.add("-Djava.net.preferIPv4Stack=true");
        command.addAll(Transport.arguments());
        command.addAll(List.of("-cp", ClassPath.argument(classPath), main.getName()));
        command.add("--spring.data.redis.host=127.0.0.1");
        command.add("--spring.data.redis.port=" + redisPort);
        command.add("--distributed-permit.backend=redis");
        return command;
    }
}
