package io.github.distributedpermit.backend.consul;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.ConsulProbe.Key;
import io.github.distributedpermit.consulserver.ConsulServer;
import io.github.distributedpermit.contract.Fault;
import io.github.distributedpermit.contract.KeySnapshot;
import io.github.distributedpermit.contract.KeySnapshot.Row;
import io.github.distributedpermit.contract.SessionStoreFixture;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** A layout under a prefix of its own on a server that other tests use as well. */
class ConsulFixture implements SessionStoreFixture {

    private final String prefix = "contract-" + UUID.randomUUID();
    private final ConsulProbe probe;
    private final ConsulPermitBackend backend;
    private final Map<PermitStore, ConsulSnapshotStore> stores = new ConcurrentHashMap<>();

    ConsulFixture(ConsulServer server, ConsulLayout layout) {
        this(server, server.address(), layout);
    }

    /** Members go by another address, where something stands before the server. */
    ConsulFixture(ConsulServer server, URI address, ConsulLayout layout) {
        probe = server.probe();
        ConsulSettings settings = new ConsulSettings(
                address,
                Optional::empty,
                Optional.empty(),
                prefix,
                layout,
                Duration.ofSeconds(15),
                Bench.REQUEST_TIMEOUT);
        backend = new ConsulPermitBackend(settings);
    }

    String prefix() {
        return prefix;
    }

    @Override
    public PermitBackend backend() {
        return new PermitBackend() {
            @Override
            public String name() {
                return backend.name();
            }

            @Override
            public String address() {
                return backend.address();
            }

            @Override
            public PermitStore join(Member member, HoldingListener listener) {
                ConsulSnapshotStore consul = backend.store(member);
                PermitStore store = backend.join(consul, member, listener);
                stores.put(store, consul);
                return store;
            }
        };
    }

    @Override
    public Duration lease() {
        return Duration.ofHours(1);
    }

    @Override
    public KeySnapshot look(String key) {
        Map<String, Integer> held = new HashMap<>();
        Map<String, JsonObject> values = new HashMap<>();
        Set<String> queued = new HashSet<>();
        OverrideLimit override = OverrideLimit.empty();
        String tree = prefix + "/" + KeyEncoding.encode(key) + "/";
        List<Key> entries = probe.keys(tree);
        Set<String> holders = holders(entries);
        for (Key entry : entries) {
            String name = entry.name().substring(tree.length());
            JsonObject value = JsonParser.parseString(entry.value()).getAsJsonObject();
            if (value.has("main")) {
                if (holders.contains(name)) {
                    String main = value.get("main").getAsString();
                    held.merge(main, 1, Integer::sum);
                    values.merge(main, value, (known, other) -> limit(known) < limit(other) ? other : known);
                }
            } else if (name.equals(".override")) {
                override = value.has("set")
                        ? OverrideLimit.parse(value.get("set").getAsString())
                        : OverrideLimit.of(value.get("limit").getAsInt());
            } else if (name.startsWith("slot_")) {
                String session = String.valueOf(entry.session());
                held.merge(session, 1, Integer::sum);
                values.merge(session, value, (known, other) -> limit(known) < limit(other) ? other : known);
            } else if (name.startsWith("m_")) {
                queued.add(String.valueOf(entry.session()));
            }
        }
        for (Key entry : probe.keys(tree + "m_")) {
            values.put(
                    String.valueOf(entry.session()),
                    JsonParser.parseString(entry.value()).getAsJsonObject());
        }
        List<Row> rows = new ArrayList<>();
        values.forEach((session, value) -> {
            int permits = held.getOrDefault(session, 0);
            int wanted = value.has("wanted") ? value.get("wanted").getAsInt() : permits;
            String member = value.get("member").getAsString();
            rows.add(new Row(member, permits, wanted, limit(value), queued.contains(session)));
        });
        return new KeySnapshot(held.values().stream().mapToInt(n -> n).sum(), override, rows);
    }

    private static Set<String> holders(List<Key> entries) {
        return entries.stream()
                .filter(entry -> entry.name().endsWith("/.lock"))
                .flatMap(entry ->
                        JsonParser.parseString(entry.value())
                                .getAsJsonObject()
                                .getAsJsonObject("Holders")
                                .keySet()
                                .stream())
                .collect(Collectors.toSet());
    }

    private static int limit(JsonObject value) {
        return value.get("limit").getAsInt();
    }

    /** The fence of a live session is no residue. */
    @Override
    public Collection<String> residue() {
        Set<String> live =
                probe.sessions().stream().map(ConsulProbe.Session::id).collect(Collectors.toSet());
        return probe.keys(prefix).stream()
                .filter(key -> !(key.name().matches(".*/\\.(member|contended|spare-[^/]*)")
                        && live.contains(String.valueOf(key.session()))))
                .map(Key::name)
                .toList();
    }

    @Override
    public void passIdleTime() {}

    /** Each takes some ten seconds of real transactions. Leases end in every other one. */
    @Override
    public int runs() {
        return Boolean.getBoolean("tests.long") ? 3 : 2;
    }

    /** Too few for one to meet another: a claim tells in its answer what a notice would have told. */
    @Override
    public Set<Fault> faults() {
        return EnumSet.complementOf(EnumSet.of(Fault.NOTICE_REORDERED));
    }

    /** A process that ends says nothing, and Consul ends its session after a while. */
    @Override
    public void die(PermitStore store) {
        ConsulSnapshotStore ours = Objects.requireNonNull(stores.get(store));
        Session session = ours.membership().current();
        ours.loop().end();
        if (session != null) {
            session.all().forEach(probe::destroySession);
        }
    }

    @Override
    public void close() {}
}
