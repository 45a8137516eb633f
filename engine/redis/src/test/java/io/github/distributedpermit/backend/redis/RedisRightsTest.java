package io.github.distributedpermit.backend.redis;

import static io.github.distributedpermit.backend.redis.DocumentedRights.CLIENTS_OWN;
import static io.github.distributedpermit.backend.redis.DocumentedRights.PASSWORD;
import static io.github.distributedpermit.backend.redis.DocumentedRights.USER;
import static io.github.distributedpermit.backend.redis.DocumentedRights.rule;
import static io.github.distributedpermit.backend.redis.TestMember.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.Logged;
import io.github.distributedpermit.testsupport.RedisServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The rights that docs/security.md gives to the user of permits: those they use, and no others. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RedisRightsTest extends RedisTest {

    private static final String PREFIX = RedisSettings.DEFAULT_PREFIX;
    /** A command that takes longer fails, and no test repeats it. */
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(20);

    /** The command without which only a warning is missing. */
    private static final String FOR_A_WARNING = "info";

    /** Words in capitals between quotes in the scripts that are no commands, or are used only with a grace. */
    private static final Set<String> NO_COMMANDS = Set.of("OOM", "LIMIT", "WITHSCORES", "INFO", "CLUSTER", "NODES");

    private final RedisServer server = RedisServer.create();

    @BeforeAll
    void startServer() {
        server.start();
    }

    @BeforeEach
    void empty() {
        server.ask(commands -> commands.flushall() + commands.scriptFlush());
    }

    @AfterAll
    void stopServer() {
        server.close();
    }

    @Test
    void documentedRightsAreThoseThatTheWholeLifeOfAMemberUses() throws IOException {
        leaveOrphan();
        try (RedisMonitor monitor = new RedisMonitor(server)) {
            live(factory(server), monitor);

            // The last lines of the monitor arrive later than the answers.
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(monitor.commands(true)).isEqualTo(calledByScripts());
                Set<String> used = new TreeSet<>(monitor.commands(true));
                used.addAll(monitor.commands(false));
                used.removeAll(CLIENTS_OWN);
                assertThat(rule()).isEqualTo(ruleOf(used));
            });
        }
    }

    @Test
    void userOfExactlyTheseRightsLivesAWholeLife() throws IOException {
        leaveOrphan();
        permit(rule());
        try (RedisMonitor monitor = new RedisMonitor(server)) {
            assertThatCode(() -> live(asUser(), monitor)).doesNotThrowAnyException();
        }
        assertThat(denials()).isSubsetOf(CLIENTS_OWN);
    }

    @Test
    void graceNeedsNoFurtherRightOnOneServer() throws IOException {
        permit(rule());
        try (RedisMonitor monitor = new RedisMonitor(server)) {
            assertThatCode(() -> live(asUser(), monitor, true)).doesNotThrowAnyException();
        }
        assertThat(denials()).isSubsetOf(CLIENTS_OWN);
    }

    @Test
    void withoutTheRightToAskForTheEpochThereIsAWarningAndNoGrace() throws IOException {
        permit(rule().replace("+info ", ""));
        try (Logged logged = new Logged(ServerCheck.class)) {
            TestMember a = memberOf(PREFIX);
            logged.awaitText("does not show when it loses state", "the right +info is missing");

            assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
            assertThat(a.keep(key(), 1).epoch()).isZero();
        }
    }

    /** Such as an operator who takes all rights away and gives them anew, by two commands. */
    @Test
    void graceBeginsWhenTheRightToAskForTheEpochIsGivenOnALivingConnection() throws IOException {
        permit(rule().replace("+info ", ""));
        try (Logged logged = new Logged(ServerCheck.class)) {
            RedisSettings settings = new RedisSettings(PREFIX, Duration.ofSeconds(30), Duration.ofMillis(50));
            TestMember a = open(new TestMember(asUser(), settings.withGrace(Duration.ZERO)));
            logged.awaitText("the right +info is missing");
            a.queue(key(), 1, 1);
            TestMember b = open(new TestMember(factory(server), settings.withGrace(Duration.ZERO)));
            assertThat(b.queue("held", 1, 1).permits()).isEqualTo(1);

            permit("ACL SETUSER " + USER + " +info");
            await().atMost(PATIENCE).until(() -> a.keep(key(), 1).epoch() != 0);
            server.ask(commands -> commands.flushall());

            Holding afterLoss = a.queue("held", 1, 1);
            assertThat(afterLoss.permits()).isZero();
            assertThat(afterLoss.others().grace()).isTrue();
            assertThat(logged.texts()).hasSize(1);
        }
    }

    @Test
    void everyMissingCommandIsReportedAsAMissingRight() throws Exception {
        for (String command : granted()) {
            empty();
            leaveOrphan();
            permit(Arrays.stream(rule().split(" "))
                    .filter(word -> !word.equals("+" + command))
                    .collect(Collectors.joining(" ")));
            try (RedisMonitor monitor = new RedisMonitor(server);
                    Logged logged = new Logged(ConnectionManager.class)) {
                switch (command) {
                    case FOR_A_WARNING ->
                        assertThatCode(() -> live(asUser(), monitor))
                                .as(command)
                                .doesNotThrowAnyException();
                    case "subscribe" -> {
                        TestMember a = memberOf(PREFIX);
                        TestMember b = memberOf(PREFIX);
                        logged.awaitText("lacks a command, key or channel");
                        a.queue(key(), 1, 1);
                        b.queue(key(), 1, 1);
                        a.keep(key(), 0);
                        assertThat(b.queue(key(), 1, 1).permits())
                                .as("the re-check finds the permit without a notification")
                                .isEqualTo(1);
                    }
                    default ->
                        assertThatExceptionOfType(PermitStoreException.class)
                                .as(command)
                                .isThrownBy(() -> live(asUser(), monitor))
                                .satisfies(e -> assertThat(e.isPermanent()).isTrue())
                                .withMessageContaining("lacks a command, key or channel");
                }
            }
            closeAll();
        }
    }

    @Test
    void otherKeysAndChannelsAreOutOfReach() throws IOException {
        permit(rule());
        TestMember stranger = memberOf("other");
        PermitStoreException refused = stranger.failure(stranger.next(key(), 1, 1, 1, true));

        assertThat(refused.isPermanent()).isTrue();
        assertThat(refused).hasMessageContaining("lacks a command, key or channel");
    }

    @Test
    void missingChannelIsLoggedAndRetriedWithGrowingPauses() throws IOException {
        permit(rule().replaceAll("&\\S+", "&other:*"));
        try (Logged logged = new Logged(ConnectionManager.class)) {
            TestMember a = memberOf(PREFIX);
            logged.awaitText("lacks a command, key or channel");
            a.queue(key(), 1, 1);
            a.queue("other", 1, 1);
            TestMember b = memberOf(PREFIX);
            b.queue(key(), 1, 1);
            assertThat(a.keep(key(), 0).permits()).isZero();
            assertThat(b.queue(key(), 1, 1).permits())
                    .as("the re-check finds the permit without a notification")
                    .isEqualTo(1);
            assertThat(a.keep("other", 0).permits()).isZero();
            b.close();

            // MONITOR does not show refused commands; the log of ACL does
            long start = System.nanoTime();
            long before = refusals();
            await().atMost(PATIENCE).until(() -> refusals() >= before + 3);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(200));
            assertThat(logged.texts()).hasSize(2);
        }
    }

    /** Everything that a member does with a server. */
    private void live(LettuceConnectionFactory factory, RedisMonitor monitor) {
        live(factory, monitor, false);
    }

    private void live(LettuceConnectionFactory factory, RedisMonitor monitor, boolean grace) {
        RedisSettings plain = new RedisSettings(PREFIX, Duration.ofSeconds(30), Duration.ofMillis(50), COMMAND_TIMEOUT);
        RedisSettings settings = grace ? plain.withGrace(Duration.ZERO) : plain.withoutGrace();
        TestMember a = open(new TestMember(factory, settings));
        TestMember b = open(new TestMember(factory, settings));
        TestMember mortal = open(new TestMember(factory, settings)).lease(Duration.ofMillis(50));
        String key = key();
        TestMember.answer(a.store().inspect(key));
        a.queue("orphan", 1, 1);
        a.keep("orphan", 0);
        a.queue(key, 1, 1);
        b.queue(key, 1, 1);
        a.keep(key, 0);
        b.awaitGrant(key, 1);
        b.keep(key, 1);
        a.queue(key, 1, 1);
        TestMember.answer(b.store().override(key, OverrideLimit.of(2)));
        a.awaitGrant(key, 1);
        TestMember.answer(b.store().override(key, OverrideLimit.empty()));
        a.queue(key, 1, 2);
        a.keep(key, 1);
        TestMember.answer(a.store().inspect(key));
        a.queue("lapsed", 2, 1);
        mortal.queue("lapsed", 2, 1);
        await().atMost(PATIENCE).until(() -> b.queue("lapsed", 2, 1).permits() == 1);
        TestMember patient = open(new TestMember(factory, settings)).lease(Duration.ofSeconds(10));
        patient.queue("renewed", 1, 1);
        patient.lease(Duration.ofSeconds(30))
                .keep("renewed", 1); // much longer, which moves the bound of its lease at once
        patient.keep("renewed", 0);
        List.of("lapsed", key).forEach(each -> a.keep(each, 0));
        b.keep("lapsed", 0);
        b.keep(key, 0);
        await().atMost(PATIENCE).until(() -> monitor.commands(false).contains("publish"));
        List.of(a, b, mortal, patient).forEach(TestMember::close);
    }

    /** Leaves a part of a lost key, which a claim removes. */
    private void leaveOrphan() {
        String queue = new String(RedisKey.of(PREFIX, "orphan").names()[1], StandardCharsets.UTF_8);
        server.ask(commands -> commands.zadd(queue, 1, "member"));
    }

    /** The commands in the source of the scripts. */
    private static Set<String> calledByScripts() {
        String all = Stream.of(Script.CLAIMS, Script.OVERRIDE.get(), Script.INSPECT.get())
                .map(script -> new String(script.source(), StandardCharsets.UTF_8).replaceAll("(?m)--.*$", ""))
                .map(text -> text.replace("'PUBSUB', '", "'PUBSUB|"))
                .collect(Collectors.joining());
        return Pattern.compile("'([A-Z|]{3,})'")
                .matcher(all)
                .results()
                .map(found -> found.group(1))
                .filter(word -> !NO_COMMANDS.contains(word))
                .map(word -> word.toLowerCase(java.util.Locale.ROOT))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String ruleOf(Set<String> commands) {
        return "ACL SETUSER %s reset on >%s ~%s:* resetchannels &%s:member:* %s"
                .formatted(
                        USER,
                        PASSWORD,
                        PREFIX,
                        PREFIX,
                        commands.stream().map(each -> "+" + each).collect(Collectors.joining(" ")));
    }

    private static List<String> granted() throws IOException {
        return Arrays.stream(rule().split(" "))
                .filter(word -> word.startsWith("+"))
                .map(word -> word.substring(1))
                .toList();
    }

    private void permit(String rule) {
        DocumentedRights.permit(eye(server), rule);
    }

    private LettuceConnectionFactory asUser() {
        return opened(server.connectionFactory(USER, PASSWORD));
    }

    private TestMember memberOf(String prefix) {
        return open(new TestMember(
                asUser(), RedisSettings.of(prefix, COMMAND_TIMEOUT).withGrace(Duration.ZERO)));
    }

    private Set<String> denials() {
        return DocumentedRights.denials(server);
    }

    private long refusals() {
        return server.ask(commands -> commands.aclLog()).stream()
                .filter(entry -> "channel".equals(entry.get("reason")))
                .mapToLong(entry -> Long.parseLong(String.valueOf(entry.get("count"))))
                .sum();
    }
}
