package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.ConsulServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One Consul agent that is its own server. */
public final class ConsulStore implements Store {

    /** The shortest that Consul allows. */
    public static final Duration TTL = Duration.ofSeconds(10);

    /** Below this is everything of permits. */
    public static final String ROOT = "distributed-permit/";

    private static final Pattern VERSION = Pattern.compile("\"Version\":\\s*\"([0-9.]+)");

    private final ConsulServer server;

    private ConsulStore(ConsulServer server) {
        this.server = server;
    }

    /** Starts it. */
    public static ConsulStore start() {
        return new ConsulStore(ConsulServer.start());
    }

    /** The agent itself. */
    public ConsulServer server() {
        return server;
    }

    /** What an operator can do. */
    public ConsulProbe operator() {
        return server.probe();
    }

    @Override
    public List<String> settings() {
        return List.of(
                "--distributed-permit.backend=consul",
                "--spring.cloud.consul.enabled=true",
                "--spring.cloud.consul.host=127.0.0.1",
                "--spring.cloud.consul.port=" + server.address().getPort(),
                "--distributed-permit.consul.session-ttl=" + TTL.toMillis() + "ms");
    }

    @Override
    public String version() {
        try (var answer = server.address().resolve("/v1/agent/self").toURL().openStream()) {
            Matcher version = VERSION.matcher(new String(answer.readAllBytes(), StandardCharsets.UTF_8));
            return version.find() ? "Consul " + version.group(1) : "Consul";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public List<String> residue() {
        return operator().keys(ROOT).stream().map(ConsulProbe.Key::name).toList();
    }

    @Override
    public void close() {
        server.close();
    }
}
