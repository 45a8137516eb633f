package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.spi.KeyState.MemberState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Members of another version, as their stored data in the test resources, beside members of this one. */
class OlderBesideNewerTest {

    private static final String KEY = "versions";
    private static final String FLAGS = "16210313421097356768";
    private static final UnaryOperator<JsonObject> AS_IT_IS = entry -> entry;

    private final ConsulProbe probe = SharedConsul.get().probe();
    private final Bench bench = new Bench(SharedConsul.get().address(), probe);
    private final Map<String, String> sessions = new LinkedHashMap<>();

    @AfterEach
    void leave() {
        sessions.values().forEach(probe::destroySession);
        probe.deleteTree(bench.tree(KEY));
        bench.close();
    }

    private TestMember member(ConsulLayout layout) {
        return bench.member(bench.settings(layout, Bench.REQUEST_TIMEOUT));
    }

    private static List<String> lines(int format, ConsulLayout layout) {
        String name = "format-" + format + "/" + (layout == ConsulLayout.SLOTS ? "slots.txt" : "lock-file.txt");
        try (InputStream in = Objects.requireNonNull(OlderBesideNewerTest.class.getResourceAsStream(name))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Puts it into Consul, with sessions that live. */
    private void store(int format, ConsulLayout layout, UnaryOperator<JsonObject> change) {
        for (String name : List.of("ONE", "TWO", "THREE")) {
            String body = "{\"TTL\":\"60s\",\"Behavior\":\"delete\",\"LockDelay\":\"0s\",\"NodeChecks\":[]}";
            String answer = probe.answer("session/create", body).body();
            sessions.put(
                    name,
                    JsonParser.parseString(answer).getAsJsonObject().get("ID").getAsString());
        }
        for (String line : lines(format, layout)) {
            String[] parts = line.split("\\|", 3);
            String session = sessions.get(parts[1]);
            JsonObject value = JsonParser.parseString(live(parts[2])).getAsJsonObject();
            boolean isTheirs = parts[0].equals(".lock");
            String query = "?flags=" + (layout == ConsulLayout.LOCK_FILE ? FLAGS : "0")
                    + (session == null ? "" : "&acquire=" + session);
            assertThat(probe.put(
                            "kv/" + bench.tree(KEY) + URLEncoder.encode(live(parts[0]), StandardCharsets.UTF_8) + query,
                            (isTheirs ? value : change.apply(value)).toString()))
                    .isEqualTo(200);
        }
    }

    private String live(String text) {
        String result = text;
        for (Map.Entry<String, String> session : sessions.entrySet()) {
            result = result.replace(session.getKey(), session.getValue());
        }
        return result;
    }

    private Map<String, JsonObject> stored() {
        Map<String, JsonObject> entries = new TreeMap<>();
        bench.keys(KEY)
                .forEach(key -> entries.put(
                        key.name().substring(bench.tree(KEY).length()),
                        JsonParser.parseString(key.value()).getAsJsonObject()));
        return entries;
    }

    private static UnaryOperator<JsonObject> newer(int reader) {
        return entry -> {
            entry.addProperty("format", 3);
            entry.addProperty("reader", reader);
            entry.addProperty("zone", "west");
            return entry;
        };
    }

    /** Whoever changes what is written has to add fixtures, and to keep these. */
    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void whatThisVersionWritesIsTheNewestFixture(ConsulLayout layout) {
        TestMember one = member(layout);
        TestMember three = member(layout);
        TestMember two = member(layout);
        one.queue(KEY, 2, 1);
        three.queue(KEY, 2, 1);
        two.queue(KEY, 2, layout == ConsulLayout.SLOTS ? 2 : 1, 5);
        sessions.put("ONE", bench.sessions(one).get(0).id());
        sessions.put("TWO", bench.sessions(two).get(0).id());
        sessions.put("THREE", bench.sessions(three).get(0).id());

        Map<String, JsonObject> expected = new TreeMap<>();
        lines(2, layout).forEach(line -> {
            String[] parts = line.split("\\|", 3);
            expected.put(live(parts[0]), JsonParser.parseString(parts[2]).getAsJsonObject());
        });
        Map<String, JsonObject> actual = stored();
        assertThat(actual.keySet()).isEqualTo(expected.keySet());
        actual.forEach((key, value) -> assertThat(value.keySet())
                .as(key)
                .isEqualTo(Objects.requireNonNull(expected.get(key)).keySet()));
        sessions.clear();
    }

    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void thisVersionCountsAndServesMembersOfFormatOne(ConsulLayout layout) {
        store(1, layout, AS_IT_IS);
        checkOrder(layout);
    }

    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void thisVersionWorksBesideANewerOneAndKeepsWhatItDoesNotKnow(ConsulLayout layout) {
        store(2, layout, newer(1));

        assertThat(member(layout).inspect(KEY).queue())
                .extracting(MemberState::calls)
                .containsExactly(layout == ConsulLayout.SLOTS ? 7 : 6);
        checkOrder(layout);

        Map<String, JsonObject> entries = stored();
        JsonObject line = Objects.requireNonNull(entries.get(".line"));
        assertThat(line.get("zone").getAsString()).isEqualTo("west");
        assertThat(line.get("format").getAsInt()).isEqualTo(3);
        assertThat(line.get("reader").getAsInt()).isEqualTo(1);
        if (layout == ConsulLayout.SLOTS) {
            JsonObject waiting = Objects.requireNonNull(entries.get("m_" + sessions.get("TWO")));
            assertThat(waiting.get("zone").getAsString()).isEqualTo("west");
            assertThat(waiting.get("format").getAsInt()).isEqualTo(3);
        }
    }

    /** The waiting member comes first when a permit is free. */
    private void checkOrder(ConsulLayout layout) {
        TestMember a = member(layout);
        assertThat(a.queue(KEY, 2, 1).permits()).isZero();

        probe.destroySession(Objects.requireNonNull(sessions.get("THREE")));

        assertThat(a.queue(KEY, 2, 1).permits()).isZero();
        String two = Objects.requireNonNull(sessions.get("TWO"));
        assertThat(probe.keys(bench.prefix() + "/.inbox/" + two))
                .singleElement()
                .satisfies(notice -> {
                    JsonObject json = JsonParser.parseString(notice.value()).getAsJsonObject();
                    assertThat(json.get("permits").getAsInt()).isEqualTo(1);
                    assertThat(json.get("format").getAsInt()).isEqualTo(2);
                    assertThat(json.get("reader").getAsInt()).isEqualTo(1);
                });
    }

    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void keyThatOnlyNewerVersionsMayUseIsLeftAlone(ConsulLayout layout) {
        store(2, layout, newer(3));
        Map<String, JsonObject> before = stored();
        TestMember a = member(layout);

        PermitStoreException failure = TestMember.failure(a.ask(KEY, 2, 1, 1));

        assertThat(failure.isPermanent()).isTrue();
        assertThat(failure).hasMessageContaining(bench.tree(KEY)).hasMessageContaining("format 3");
        assertThat(TestMember.failure(
                        a.store().override(KEY, OverrideLimit.of(1)).toCompletableFuture()))
                .hasMessageContaining("format 3");
        assertThat(TestMember.failure(a.store().inspect(KEY).toCompletableFuture()))
                .hasMessageContaining("format 3");
        assertThat(stored()).isEqualTo(before);
    }

    @Test
    void noticeThatOnlyNewerVersionsUnderstandLeadsToAClaim() {
        TestMember a = member(ConsulLayout.SLOTS);
        TestMember b = member(ConsulLayout.SLOTS);
        b.queue(KEY, 1, 1);
        a.queue(KEY, 1, 1);
        String session = bench.sessions(a).get(0).id();

        probe.put(
                "kv/" + bench.prefix() + "/.inbox/" + session + "/" + KEY + "?acquire=" + session,
                "{\"format\":3,\"reader\":3,\"permits\":1,\"limit\":1,\"contended\":false,\"over\":false,"
                        + "\"slot\":0,\"nonce\":\"x\"}");

        await().until(() -> a.changes() > 0);
        assertThat(a.grants()).isEmpty();
        b.keep(KEY, 1, 0);
        await().untilAsserted(() -> assertThat(a.grants()).hasSize(1));
    }

    @Test
    void fieldsThatHashicorpMayAddToItsDocumentAreKept() {
        probe.put(
                "kv/" + bench.tree(KEY) + ".lock?flags=" + FLAGS,
                "{\"Limit\":3,\"Holders\":{},\"Version\":2,\"Queue\":[\"a\",null,{\"b\":1.5}]}");

        assertThat(member(ConsulLayout.LOCK_FILE).queue(KEY, 3, 2).permits()).isEqualTo(2);

        JsonObject document = Objects.requireNonNull(stored().get(".lock"));
        assertThat(document.get("Version").getAsInt()).isEqualTo(2);
        assertThat(document.get("Queue")).hasToString("[\"a\",null,{\"b\":1.5}]");
        assertThat(document.getAsJsonObject("Holders").size()).isEqualTo(2);
    }
}
