package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.consulserver.ConsulProbe;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/** Members of one test, under a prefix of their own. */
final class Bench implements AutoCloseable {

    /** No request takes so long, whatever the machine does; tests that wait for a time-out set another. */
    static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(15);

    private final String prefix;
    private final ConsulProbe probe;
    private final URI address;
    private final List<TestMember> members = new ArrayList<>();

    Bench(URI address, ConsulProbe probe) {
        this(address, probe, "bench-");
    }

    /** @param beginning of the prefix */
    Bench(URI address, ConsulProbe probe, String beginning) {
        this.prefix = beginning + UUID.randomUUID();
        this.address = address;
        this.probe = probe;
    }

    String prefix() {
        return prefix;
    }

    /** Where a key lies. */
    String tree(String key) {
        return prefix + "/" + key + "/";
    }

    TestMember member() {
        return member(settings(Optional.empty(), Duration.ofSeconds(15)));
    }

    TestMember member(ConsulSettings settings) {
        TestMember member = new TestMember(new ConsulPermitBackend(settings));
        members.add(member);
        return member;
    }

    ConsulSettings settings(Optional<String> token, Duration ttl) {
        return settings(() -> token, ttl);
    }

    /** With a token that may be replaced. */
    ConsulSettings settings(Supplier<Optional<String>> token, Duration ttl) {
        return new ConsulSettings(address, token, Optional.empty(), prefix, ConsulLayout.SLOTS, ttl, REQUEST_TIMEOUT);
    }

    /** With another layout or time-out, and the shortest TTL. */
    ConsulSettings settings(ConsulLayout layout, Duration requestTimeout) {
        return settings(address, layout, requestTimeout);
    }

    /** By another way to the agent. */
    ConsulSettings settings(URI way, ConsulLayout layout, Duration requestTimeout) {
        return new ConsulSettings(
                way, Optional::empty, Optional.empty(), prefix, layout, ConsulSettings.SHORTEST_TTL, requestTimeout);
    }

    List<ConsulProbe.Key> keys(String key) {
        return probe.keys(tree(key));
    }

    long slots(String key) {
        return keys(key).stream().filter(k -> k.name().contains("/slot_")).count();
    }

    /** Live sessions of this member. */
    List<ConsulProbe.Session> sessions(TestMember member) {
        return probe.sessions().stream()
                .filter(s -> s.name().contains(member.id()))
                .toList();
    }

    @Override
    public void close() {
        members.forEach(TestMember::close);
    }
}
