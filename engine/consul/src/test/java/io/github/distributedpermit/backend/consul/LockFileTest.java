package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.github.distributedpermit.consulserver.ConsulBinary;
import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Annotated calls and {@code consul lock -n} share one limit. */
class LockFileTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String KEY = "shared";

    private final ConsulProbe probe = SharedConsul.get().probe();
    private final Bench bench = new Bench(SharedConsul.get().address(), probe);
    private final List<Process> commands = new ArrayList<>();

    @TempDir
    private Path directory;

    @AfterEach
    void leave() throws InterruptedException {
        for (Process command : commands) {
            kill(command);
            command.waitFor(10, TimeUnit.SECONDS);
        }
        bench.close();
    }

    private static void kill(Process command) {
        command.descendants().forEach(ProcessHandle::destroyForcibly);
        command.destroyForcibly();
    }

    private TestMember member() {
        return bench.member(new ConsulSettings(
                SharedConsul.get().address(),
                Optional::empty,
                Optional.empty(),
                bench.prefix(),
                ConsulLayout.LOCK_FILE,
                Duration.ofSeconds(10),
                Bench.REQUEST_TIMEOUT));
    }

    /** Runs until the file "stop" is there; "name" is there while it holds. */
    private Process consulLock(int limit, String name) throws IOException {
        return consulLock(limit, directory, name, directory.resolve(name + ".log"));
    }

    private Process consulLock(int limit, Path folder, String name, Path log) throws IOException {
        Path file = folder.resolve(name);
        String child = "touch '%s'; while [ -d '%s' ] && [ ! -e '%s' ]; do sleep 0.05; done; rm -f '%s'"
                .formatted(file, folder, folder.resolve("stop-" + name), file);
        Process command = new ProcessBuilder(
                        ConsulBinary.require().toString(),
                        "lock",
                        "-http-addr=" + SharedConsul.get().address(),
                        "-n=" + limit,
                        "-shell=true",
                        bench.prefix() + "/" + KEY,
                        child)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        commands.add(command);
        return command;
    }

    private void stop(String name) throws IOException {
        Files.createFile(directory.resolve("stop-" + name));
    }

    private boolean holds(String name) {
        return Files.exists(directory.resolve(name));
    }

    private JsonObject document() {
        return bench.keys(KEY).stream()
                .filter(key -> key.name().endsWith("/.lock"))
                .map(key -> JsonParser.parseString(key.value()).getAsJsonObject())
                .findFirst()
                .orElseGet(JsonObject::new);
    }

    /** The sessions of a crashed member end one after the other; to a session that has ended no notice can be written. */
    @Test
    void holderWhoseFirstSessionHasEndedKeepsNoMemberFromWaiting() {
        TestMember crashed = member();
        assertThat(crashed.queue(KEY, 2, 2).permits()).isEqualTo(2);
        crashed.die();
        List<ConsulProbe.Session> sessions = bench.sessions(crashed);
        assertThat(sessions).hasSize(2);
        sessions.stream()
                .filter(session -> !session.name().endsWith("(permit)"))
                .forEach(session -> probe.destroySession(session.id()));
        TestMember b = member();

        assertThat(TestMember.answer(b.ask(KEY, 2, 2, 2)).permits()).isZero();

        sessions.forEach(session -> probe.destroySession(session.id()));
        assertThat(TestMember.answer(b.ask(KEY, 2, 2, 2)).permits()).isEqualTo(2);
    }

    @Test
    void documentIsHashiCorpsOwn() {
        TestMember a = member();
        a.queue(KEY, 3, 2);

        JsonObject document = document();

        assertThat(document.keySet()).containsExactly("Limit", "Holders");
        assertThat(document.get("Limit").getAsInt()).isEqualTo(3);
        assertThat(document.getAsJsonObject("Holders").keySet())
                .hasSize(2)
                .isSubsetOf(
                        bench.sessions(a).stream().map(ConsulProbe.Session::id).toList());
        assertThat(bench.keys(KEY)).allSatisfy(key -> assertThat(key.flags()).isEqualTo("16210313421097356768"));
        a.keep(KEY, 3, 0);
        assertThat(bench.keys(KEY)).isEmpty();
    }

    /** Each contender that gets a permit is checked by one operation, and a transaction has 64. */
    @Test
    void waiterThatWantsMoreThanSixtyFourOperationsIsServedInSeveralTransactions() {
        TestMember a = member();
        TestMember b = member();
        a.queue(KEY, 70, 70);
        b.queue(KEY, 70, 70);

        a.keep(KEY, 70, 0);

        await().untilAsserted(() -> assertThat(b.grants()).hasSize(1));
        assertThat(b.grants().get(0).permits()).isEqualTo(70);
        assertThat(document().getAsJsonObject("Holders").size()).isEqualTo(70);
        b.keep(KEY, 70, 0);
        assertThat(bench.keys(KEY)).isEmpty();
    }

    @Test
    void commandLineWaitsForCallsAndCallsWaitForTheCommandLine() throws IOException {
        TestMember a = member();
        a.queue(KEY, 3, 2);
        consulLock(3, "one");
        await().atMost(PATIENCE).until(() -> holds("one"));
        consulLock(3, "two");

        assertThat(a.queue(KEY, 3, 3).permits()).isEqualTo(2);
        assertThat(document().getAsJsonObject("Holders").size()).isEqualTo(3);
        assertThat(holds("two")).isFalse();

        a.keep(KEY, 3, 1);
        await().atMost(PATIENCE).until(() -> holds("two"));
        TestMember b = member();
        assertThat(b.queue(KEY, 3, 1).permits()).isZero();
        stop("one");
        await().atMost(PATIENCE).until(() -> b.queue(KEY, 3, 1).permits() == 1);
        assertThat(document().getAsJsonObject("Holders").size()).isEqualTo(3);
        stop("two");
        await().atMost(PATIENCE)
                .until(() -> document().getAsJsonObject("Holders").size() == 2);
    }

    @Test
    void callsThatDieMakeRoomForTheCommandLine() throws IOException {
        TestMember a = member();
        a.queue(KEY, 1 + 1, 2);
        consulLock(2, "one");
        consulLock(2, "two");
        List<ConsulProbe.Session> sessions = bench.sessions(a);
        assertThat(holds("one") || holds("two")).isFalse();

        a.die();
        sessions.forEach(session -> probe.destroySession(session.id()));

        await().atMost(PATIENCE).until(() -> holds("one") && holds("two"));
        assertThat(member().attempt(KEY, 2, 1).permits()).isZero();
    }

    @Test
    void commandThatIsKilledMakesRoomForCalls() throws IOException {
        consulLock(2, "one");
        await().atMost(PATIENCE).until(() -> holds("one"));
        TestMember a = member();
        assertThat(a.queue(KEY, 2, 2).permits()).isEqualTo(1);

        commands.get(0).destroyForcibly();
        // its session would last for up to twice 15 seconds
        document().getAsJsonObject("Holders").keySet().stream()
                .filter(holder -> bench.sessions(a).stream().noneMatch(s -> s.id().equals(holder)))
                .forEach(probe::destroySession);

        await().atMost(PATIENCE).until(() -> a.queue(KEY, 2, 2).permits() == 2);
    }

    /** By the clock: the command's session has a TTL of 15 s, ours one of 10 s, and Consul waits for twice as long. */
    @Test
    @Tag("slow")
    void killedSideServesTheOtherWhenItsSessionsExpire() throws IOException {
        TestMember a = member();
        a.queue(KEY, 3, 2);
        consulLock(3, "one");
        await().atMost(PATIENCE).until(() -> holds("one"));
        consulLock(3, "two");
        assertThat(document().getAsJsonObject("Holders").size()).isEqualTo(3);
        a.die();
        await().atMost(PATIENCE).until(() -> holds("two"));
        assertThat(document().getAsJsonObject("Holders").size()).isLessThanOrEqualTo(3);

        TestMember b = member();
        assertThat(b.queue(KEY, 3, 2).permits()).isEqualTo(1);
        commands.forEach(LockFileTest::kill);

        await().atMost(PATIENCE).until(() -> b.queue(KEY, 3, 3).permits() == 3);
        assertThat(document().getAsJsonObject("Holders").size()).isEqualTo(3);
    }

    @Test
    void otherLimitOfTheCommandLineIsAnErrorAndNothingIsWritten() throws IOException {
        consulLock(3, "one");
        await().atMost(PATIENCE).until(() -> holds("one"));
        JsonObject before = document();

        PermitStoreException failure = TestMember.failure(member().ask(KEY, 2, 1, 1));

        assertThat(failure.isPermanent()).isTrue();
        assertThat(failure).hasMessageContaining(bench.tree(KEY) + ".lock").hasMessageContaining("limit 3");
        assertThat(document()).isEqualTo(before);
    }

    /** The claim cannot be planned on the snapshot that the member has. That does not show what Consul has now. */
    @Test
    void otherLimitOfACommandThatHasEndedIsNoError() throws IOException {
        TestMember a = member();
        consulLock(3, "one");
        await().atMost(PATIENCE).until(() -> holds("one"));
        a.queue(KEY, 3, 1);
        stop("one");
        await().atMost(PATIENCE)
                .until(() -> document().getAsJsonObject("Holders").size() == 1);

        assertThat(a.queue(KEY, 5, 2).permits()).isEqualTo(2);

        assertThat(document().get("Limit").getAsInt()).isEqualTo(5);
    }

    @Test
    void documentThatTheCommandLineDeletesIsMadeAnew() throws IOException {
        consulLock(3, "one");
        await().atMost(PATIENCE).until(() -> holds("one"));
        stop("one");
        await().atMost(PATIENCE).until(() -> bench.keys(KEY).isEmpty());

        // and another limit is as good as the first then
        assertThat(member().queue(KEY, 5, 5).permits()).isEqualTo(5);
        assertThat(document().get("Limit").getAsInt()).isEqualTo(5);
    }

    @Test
    void damagedOrForeignDocumentIsReportedByNameAndLeftAlone() {
        TestMember a = member();
        String flags = "?flags=16210313421097356768";
        for (String body :
                List.of("", "not json", "[]", "{\"Limit\":3,\"Holders\":null}", "{\"Limit\":3,\"Holders\":[]}")) {
            probe.put("kv/" + bench.tree(KEY) + ".lock" + flags, body);
            assertDamaged(a, body);
        }
        probe.put("kv/" + bench.tree(KEY) + ".lock?flags=0", "{\"Limit\":3,\"Holders\":{}}");
        assertDamaged(a, "{\"Limit\":3,\"Holders\":{}}");
        probe.deleteTree(bench.tree(KEY));
        await().until(() -> a.ask(KEY, 3, 1, 1).get().permits() == 1);
    }

    private void assertDamaged(TestMember a, String body) {
        PermitStoreException failure = TestMember.failure(a.ask(KEY, 3, 1, 1));
        assertThat(failure.isPermanent()).isTrue();
        assertThat(failure).hasMessageContaining(bench.tree(KEY) + ".lock");
        assertThat(bench.keys(KEY))
                .filteredOn(key -> key.name().endsWith("/.lock"))
                .extracting(ConsulProbe.Key::value)
                .containsExactly(body);
    }

    /** A test that is aborted deletes its folder and has nothing left with which to stop the command. */
    @Test
    void commandEndsWhenTheFolderOfItsTestIsGone() throws IOException, InterruptedException {
        Path gone = Files.createDirectory(directory.resolve("gone"));
        Path log = directory.resolve("gone.log");
        Process command = consulLock(2, gone, "one", log);
        await().atMost(PATIENCE).until(() -> Files.exists(gone.resolve("one")));

        Files.delete(gone.resolve("one"));
        Files.delete(gone);

        assertThat(command.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void liftedPauseWritesTheLimitOfTheCallsItServes() throws IOException {
        TestMember a = member();
        TestMember operator = member();
        operator.override(KEY, OverrideLimit.of(0));
        assertThat(a.queue(KEY, 3, 2).permits()).isZero();

        operator.override(KEY, OverrideLimit.empty());

        await().untilAsserted(() -> assertThat(a.grants()).hasSize(1));
        assertThat(document().get("Limit").getAsInt()).isEqualTo(3);
        consulLock(3, "one");
        await().atMost(PATIENCE).until(() -> holds("one"));
    }

    @Test
    void overrideByAMemberThatWaitsKeepsTheLimitOfItsOwnCalls() {
        TestMember a = member();
        a.override(KEY, OverrideLimit.of(0));
        assertThat(a.queue(KEY, 3, 2).permits()).isZero();

        a.override(KEY, OverrideLimit.empty());

        assertThat(a.queue(KEY, 3, 2).permits()).isEqualTo(2);
        assertThat(document().get("Limit").getAsInt()).isEqualTo(3);
        assertThat(bench.keys(KEY))
                .filteredOn(key -> key.value().startsWith("{\"main\""))
                .allSatisfy(key -> assertThat(key.value()).contains("\"limit\":3"));
    }

    @Test
    void plainLockOfTheCommandLineIsNamedAndLeftAlone() throws IOException {
        consulLock(1, "one");
        await().atMost(PATIENCE).until(() -> holds("one"));

        PermitStoreException failure = TestMember.failure(member().ask(KEY, 3, 1, 1));

        assertThat(failure.isPermanent()).isTrue();
        assertThat(failure)
                .hasMessageContaining(bench.tree(KEY) + ".lock")
                .hasMessageContaining("'consul lock' without -n")
                .hasMessageContaining("consul lock -n=N");
        assertThat(failure.getMessage()).doesNotContain("damaged");
        stop("one");
        await().atMost(PATIENCE)
                .ignoreExceptions()
                .until(() -> member().ask(KEY, 3, 1, 1).get().permits() == 1);
    }

    @Test
    void destroyedSessionOfOnePermitIsToldAsALoss() {
        TestMember a = member();
        a.queue(KEY, 3, 3);
        List<ConsulProbe.Session> sessions = bench.sessions(a);
        assertThat(sessions).hasSize(3);

        probe.destroySession(sessions.stream()
                .filter(session -> session.name().endsWith("(permit)"))
                .findFirst()
                .orElseThrow()
                .id());

        await().untilAsserted(() -> assertThat(a.losses()).isEqualTo(1));
        await().untilAsserted(() -> assertThat(bench.sessions(a)).hasSize(1));
        assertThat(a.queue(KEY, 3, 1).permits()).isEqualTo(1);
    }

    @Test
    void sessionsAreReusedAndNoneIsLeft() {
        TestMember a = member();
        for (int i = 0; i < 5; i++) {
            a.queue(KEY, 3, 3);
            a.keep(KEY, 3, 0);
            a.queue("other", 3, 2);
            a.keep("other", 3, 0);
        }
        assertThat(bench.sessions(a)).hasSize(3);

        a.close();

        await().untilAsserted(() -> assertThat(bench.sessions(a)).isEmpty());
    }
}
