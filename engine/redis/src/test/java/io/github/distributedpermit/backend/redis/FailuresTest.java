package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.PermitStoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import java.net.ConnectException;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Errors of server versions that the build does not start; {@link RedisRightsTest} runs with the version that it starts. */
class FailuresTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ERR The user executing the script can't run this command or subcommand script: canary, on @user_script:1.",
                "ERR The user executing the script can't access at least one of the keys mentioned in the command",
                "ERR The user executing the script can't publish to the channel mentioned in the command",
                "ERR ACL failure in script: User canary has no permissions to run the 'hset' command script: canary, on @u:1.",
                "ERR ACL failure in script: No permissions to access a key script: canary, on @user_script:1.",
                "NOPERM User canary has no permissions to run the 'hset' command script: canary"
            })
    void rightThatIsMissingInAScriptIsPermanentInEveryVersion(String answer) {
        PermitStoreException failure = Failures.of(
                new CompletionException(new RedisCommandExecutionException(answer)), RedisKey.of("permits", "a\nb"));

        assertThat(failure.isPermanent()).isTrue();
        assertThat(failure)
                .hasMessageContaining("lacks a command, key or channel")
                .hasMessageContaining("permits:{a%0Ab}:state")
                .hasMessageNotContaining("canary");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "ERR unknown command `EVALSHA`, with args beginning with: `canary`, | the command EVALSHA",
                "ERR unknown command 'EVALSHA', with args beginning with: 'canary' | the command EVALSHA",
                "ERR unknown subcommand 'NUMSUB'. Try PUBSUB HELP. | the command NUMSUB",
                "ERR Error running script (call to f_canary): @user_script:1: Unknown Redis command called from Lua script | a command",
                "ERR Unknown Redis command called from script script: canary, on @user_script:1. | a command",
                "unsupported command | a command"
            })
    void commandThatIsMissingIsPermanentInEveryVersionAndBehindAProxy(String answer, String named) {
        PermitStoreException failure = Failures.of(new RedisCommandExecutionException(answer), null);

        assertThat(failure.isPermanent()).isTrue();
        assertThat(failure).hasMessageContaining(named + " that permits need").hasMessageNotContaining("canary");
    }

    /** In about one of thirty attempts Lettuce reports this instead of the answer of the server. */
    @Test
    void wrongPasswordStaysTheReasonIfTheNextAttemptFailsWithoutOne() {
        Throwable lost = new RedisConnectionException(
                "Unable to connect", new IllegalStateException("RedisHandshakeHandler not registered"));
        PermitStoreException wrongPassword =
                Failures.ofAttempt(new RedisCommandExecutionException("WRONGPASS invalid password"), null);

        assertThat(Failures.ofAttempt(lost, wrongPassword)).isSameAs(wrongPassword);
        assertThat(Failures.ofAttempt(lost, null).isPermanent()).isFalse();
    }

    @Test
    void wrongPasswordIsNoLongerTheReasonIfTheServerIsAway() {
        PermitStoreException wrongPassword =
                Failures.ofAttempt(new RedisCommandExecutionException("WRONGPASS invalid password"), null);
        Throwable refused =
                new RedisConnectionException("Unable to connect", new ConnectException("Connection refused"));

        assertThat(Failures.ofAttempt(refused, wrongPassword).isPermanent()).isFalse();
    }
}
