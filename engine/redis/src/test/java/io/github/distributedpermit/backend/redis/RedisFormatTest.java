package io.github.distributedpermit.backend.redis;

import static io.github.distributedpermit.backend.redis.TestMember.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.KeyState.MemberState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.Logged;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The policy of docs/compatibility.md in Redis, with stored bytes of this and of imagined newer versions. The bytes are not
 * written by the code under test.
 */
@ExtendWith(RedisExtension.class)
class RedisFormatTest extends RedisTest {

    private static final HexFormat HEX = HexFormat.of();
    private static final double YEAR_2100 = 4_102_444_800_000_000.0;
    private static final String HEADER_TAIL = "c0ffee0102030405";
    private static final String EQUAL_LIMITS = "00000000";
    private static final String NO_CALLS = "0000";
    private static final String RECORD_TAIL = "feedface0a0b0c0d0e0f1011";
    private static final int HEADER = 60;
    private static final int SHORT_HEADER = 48;
    private static final int LAST_WRITER = 61;

    private final RedisServer server;

    RedisFormatTest(RedisServer server) {
        this.server = server;
    }

    @Test
    void stateOfFormat1IsReadAndWritten() throws IOException {
        RedisEye eye = store("format-1");
        TestMember a = memberWithoutGrace(factory(server));

        assertThat(TestMember.answer(a.store().inspect(key())).members())
                .extracting(MemberState::plain)
                .containsExactly(
                        new MemberState("holder", 2, 2, 3, false, 0), new MemberState("waiter", 0, 3, 3, true, 1));
        assertThat(a.attempt(key(), 3, 1).permits()).isZero();
        List<String> received = eye.messages("permits:member:waiter");
        TestMember.answer(a.store().override(key(), OverrideLimit.of(5)));

        await().atMost(PATIENCE).until(() -> !received.isEmpty());
        // kind, format, minimum reader, length of the view; permits and limit
        assertThat(HEX.formatHex(received.get(0).getBytes(StandardCharsets.ISO_8859_1)))
                .startsWith("47" + "02" + "01" + "25" + "03000000" + "05000000")
                .endsWith(HEX.formatHex(key().getBytes(StandardCharsets.US_ASCII)));
        assertThat(state(eye).get("*")).startsWith("44500201" + "05000000").hasSize(2 * SHORT_HEADER);
        assertThat(state(eye).get("waiter")).startsWith("03000000").hasSize(2 * 62);
    }

    @Test
    void graceOfFormat2IsReadAndKept() throws IOException {
        RedisEye eye = store("format-2");
        String grace = state(eye).get("+");
        TestMember a = memberWithoutGrace(factory(server));

        Holding answer = a.attempt(key(), 3, 1);

        assertThat(answer.permits()).as("two of three came back").isZero();
        assertThat(answer.others().grace()).isTrue();
        assertThat(answer.epoch()).isEqualTo(0x01020304);
        assertThat(state(eye).get("+")).isEqualTo(grace);
        assertThat(state(eye).get("*")).startsWith("44500202" + "02000000");
        TestMember.answer(a.store().override(key(), OverrideLimit.of(2)));
        assertThat(a.attempt(key(), 3, 1).others().grace())
                .as("as many came back as the limit")
                .isFalse();
    }

    @Test
    void whatANewerFormatAddsIsKept() throws IOException {
        RedisEye eye = store("format-3");
        List<String> received = eye.messages("permits:member:waiter");
        TestMember a = member(factory(server));

        assertThat(TestMember.answer(a.store().inspect(key())).queue())
                .extracting(MemberState::calls)
                .as("of its record, 1 that it wants, and 5 beyond")
                .containsExactly(6);
        assertThat(a.queue(key(), 3, 1).permits()).isZero(); // serves the waiter
        assertKept(eye);
        await().atMost(PATIENCE).until(() -> received.size() == 1);
        assertThat(state(eye).get("waiter")).startsWith("01000000");
        assertThat(lastWriter(eye, "waiter")).isEqualTo(2);
        assertThat(lastWriter(eye, "holder")).isEqualTo(3);

        TestMember.answer(a.store().override(key(), OverrideLimit.of(4)));
        a.awaitGrant(key(), 1);
        assertKept(eye);
        TestMember.answer(a.store().override(key(), OverrideLimit.empty()));
        assertKept(eye);
        for (int i = 0; i < 3; i++) {
            assertThat(a.keep(key(), 1).permits()).isEqualTo(1);
            assertKept(eye);
        }
        assertThat(TestMember.answer(a.store().inspect(key())).members())
                .extracting(MemberState::member)
                .containsExactlyInAnyOrder("holder", "waiter", a.id());
        a.keep(key(), 0);
        assertKept(eye);
    }

    @Test
    void tailOfTheMembersOwnRecordIsKept() {
        RedisEye eye = eye(server);
        TestMember a = member(factory(server));
        a.queue(key(), 2, 1);
        for (String format : List.of("0201", "0301")) {
            Map<String, String> fields = state(eye);
            eye.commands().hset(name(0), a.id(), HEX.parseHex(record(fields, a) + NO_CALLS + RECORD_TAIL));
            eye.commands()
                    .hset(name(0), "*", HEX.parseHex("4450" + format + header(fields) + EQUAL_LIMITS + HEADER_TAIL));
            for (int wanted : List.of(1, 2, 1)) {
                assertThat(a.queue(key(), 2, wanted).permits()).isEqualTo(wanted);
                assertThat(state(eye).get(a.id()))
                        .hasSize(2 * 64 + RECORD_TAIL.length())
                        .endsWith(NO_CALLS + RECORD_TAIL);
                assertThat(state(eye).get("*")).startsWith("4450" + format).endsWith(HEADER_TAIL);
            }
        }
    }

    @Test
    void highestLimitOfTheQueueIsStoredOnlyWhileLimitsDiffer() {
        RedisEye eye = eye(server);
        TestMember holder = member(factory(server));
        TestMember low = member(factory(server));
        TestMember high = member(factory(server));
        holder.queue(key(), 5, 5);
        low.queue(key(), 2, 1);
        assertThat(state(eye).get("*")).hasSize(2 * HEADER);

        high.queue(key(), 5, 1);
        assertThat(state(eye).get("*")).hasSize(2 * (HEADER + 4)).endsWith("05000000");

        high.keep(key(), 0);
        assertThat(state(eye).get("*")).hasSize(2 * HEADER);
    }

    private static String record(Map<String, String> fields, TestMember member) {
        return String.valueOf(fields.get(member.id())).substring(0, 2 * 62);
    }

    private static String header(Map<String, String> fields) {
        String header = String.valueOf(fields.get("*"));
        String unknownEpoch = "00".repeat(Math.max(0, HEADER - header.length() / 2));
        return (header + unknownEpoch).substring(2 * 4, 2 * HEADER);
    }

    @Test
    void minimumReaderAboveOursIsRefusedAndNothingIsWritten() throws IOException {
        RedisEye eye = store("format-4");
        TestMember a = member(factory(server));
        Map<String, String> before = everything(eye);

        List<CompletionStage<?>> refused = List.of(
                a.store().claim(a.next(key(), 3, 1, 1, true)),
                a.store().claim(a.next(key(), 3, 1, 1, false)),
                a.store().claim(a.next(key(), 3, 0, 0, false)),
                a.store().override(key(), OverrideLimit.of(1)),
                a.store().override(key(), OverrideLimit.empty()),
                a.store().inspect(key()));
        CompletionStage<Holding> another = a.store().claim(a.next(key() + "-other", 1, 1, 1, true));

        assertThat(refused)
                .allSatisfy(stage -> assertThatExceptionOfType(PermitStoreException.class)
                        .isThrownBy(() -> TestMember.answer(stage))
                        .satisfies(e -> assertThat(e.isPermanent()).isTrue())
                        .withMessageContaining(name(0))
                        .withMessageContaining("format 4")
                        .withMessageContaining("knows format 3; this one knows 2")
                        .withMessageContaining("Update this instance"));
        assertThat(TestMember.answer(another).permits()).isEqualTo(1);
        assertThat(everything(eye)).isEqualTo(before);
    }

    @Test
    void notificationOfANewerFormatIsReadIfThisVersionMay() {
        RedisEye eye = eye(server);
        TestMember a = member(factory(server));
        TestMember b = member(factory(server));
        a.queue(key(), 1, 1);
        b.queue(key(), 1, 1);
        String channel = "permits:member:" + b.id();
        String view = "01000000" + "01000000" + "0000000000000040" + "00c0d0d335a55a43" + "000000000000f0bf" + "00";
        String name = HEX.formatHex(key().getBytes(StandardCharsets.US_ASCII));
        try (Logged logged = new Logged(GrantMessages.class)) {
            RedisFaultTest.awaitSubscribed(eye, b);
            for (String unknown :
                    List.of("47030321" + view + name, "58" + view + name, "47", "4701012100", "470101ff")) {
                eye.commands().publish(channel, HEX.parseHex(unknown));
            }
            eye.commands().publish(channel, HEX.parseHex("47030302" + "0000"));
            eye.commands().publish(channel, HEX.parseHex("47030129" + view + "00000000" + "12345678" + name));

            b.awaitGrant(key(), 1);

            assertThat(b.recorder().grants()).containsOnlyKeys(key());
            assertThat(logged.texts()).singleElement().asString().contains("format that this instance does not know");
        }
    }

    @Test
    void claimsOfAnotherVersionOfTheScriptAreRefused() {
        RedisEye eye = eye(server);
        Claim claim = Claim.of(key(), 1, Duration.ofMinutes(1)).wanted(1).queued(1);
        byte[] packed = Packed.claim(claim);
        byte[] longer = Arrays.copyOf(packed, packed.length + 8);
        String[] names = {name(0), name(1), name(2), name(3), name(4)};

        assertThatExceptionOfType(RedisCommandExecutionException.class)
                .isThrownBy(() -> eye.commands()
                        .<byte[]>eval(
                                Script.CLAIMS.source(),
                                ScriptOutputType.VALUE,
                                names,
                                "member".getBytes(StandardCharsets.US_ASCII),
                                longer))
                .withMessageContaining("DPCLAIM")
                .satisfies(e -> assertThat(Failures.of(e, null).isPermanent()).isTrue());
        assertThat(everything(eye)).isEmpty();
    }

    private void assertKept(RedisEye eye) {
        Map<String, String> state = state(eye);
        assertThat(state.get("*"))
                .startsWith("44500301")
                .endsWith(EQUAL_LIMITS + HEADER_TAIL)
                .hasSize(2 * (HEADER + 4 + 8));
        assertThat(state).containsEntry("=", "0123456789abcdef01234567");
        for (String member : List.of("holder", "waiter")) {
            assertThat(state.get(member)).as(member).endsWith(RECORD_TAIL).hasSize(2 * 76);
        }
    }

    private int lastWriter(RedisEye eye, String member) {
        return HEX.parseHex(String.valueOf(state(eye).get(member)))[LAST_WRITER];
    }

    /** Puts a stored state at the test's key. */
    private RedisEye store(String name) throws IOException {
        RedisEye eye = eye(server);
        for (Map.Entry<String, byte[]> field : fixture(name).entrySet()) {
            eye.commands().hset(name(0), field.getKey(), field.getValue());
        }
        for (String member : List.of("holder", "waiter")) {
            eye.commands().zadd(name(2), YEAR_2100, member.getBytes(StandardCharsets.US_ASCII));
        }
        eye.commands().zadd(name(1), 1, "waiter".getBytes(StandardCharsets.US_ASCII));
        return eye;
    }

    private static Map<String, byte[]> fixture(String name) throws IOException {
        try (InputStream in = RedisFormatTest.class.getResourceAsStream(name + ".txt")) {
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            assertThat(in).as(name).isNotNull();
            if (in != null) {
                in.transferTo(text);
            }
            return text.toString(StandardCharsets.US_ASCII)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.split(" "))
                    .collect(Collectors.toMap(
                            field -> field[0],
                            field -> HEX.parseHex(field[1]),
                            (one, other) -> one,
                            LinkedHashMap::new));
        }
    }

    private String name(int part) {
        return new String(RedisKey.of("permits", key()).names()[part], StandardCharsets.UTF_8);
    }

    private Map<String, String> state(RedisEye eye) {
        Map<String, String> state = new TreeMap<>();
        eye.commands().hgetall(name(0)).forEach((field, value) -> state.put(field, HEX.formatHex(value)));
        return state;
    }

    /** All keys of the permit, with what is in them. */
    private Map<String, String> everything(RedisEye eye) {
        Map<String, String> all = new TreeMap<>();
        for (int part = 0; part < 5; part++) {
            byte[] dump = eye.commands().dump(name(part));
            if (dump != null) {
                all.put(name(part), HEX.formatHex(dump));
            }
        }
        return all;
    }
}
