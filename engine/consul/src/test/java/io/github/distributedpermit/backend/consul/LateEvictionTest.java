package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.SharedConsul;
import java.net.http.HttpClient;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The transaction of an eviction that a silent network has delayed, after the member has got other permits. */
class LateEvictionTest {

    private static final String KEY = "late";

    private final ConsulProbe probe = SharedConsul.get().probe();
    private final Bench bench = new Bench(SharedConsul.get().address(), probe);

    @AfterEach
    void leave() {
        bench.close();
    }

    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void takesNoPermitsThatTheMemberHasGotSince(ConsulLayout layout) {
        ConsulSettings settings = bench.settings(layout, Bench.REQUEST_TIMEOUT);
        TestMember member = bench.member(settings);
        TestMember operator = bench.member(settings);
        operator.attempt(KEY + "-other", 1, 0);
        member.queue(KEY, 2, 1);
        KeyTree seen =
                answer(operator.consul().inspect(KEY).toCompletableFuture()).tree();
        String session = seen.holdingSessions(member.id()).get(0);
        List<TxnOperation> order = seen.eviction(session);
        ConsulApi api = new ConsulApi(
                new ConsulHttp(
                        HttpClient::newHttpClient, settings, operator.consul().loop()),
                settings);

        member.keep(KEY, 2, 0);
        assertThat(member.queue(KEY, 2, 1).permits()).isEqualTo(1);
        CompletableFuture<TxnOutcome> late = new CompletableFuture<>();
        operator.consul().loop().execute(() -> api.transact(order).thenAccept(late::complete));

        assertThat(answer(late)).isInstanceOf(Refused.class);
        assertThat(operator.inspect(KEY).used()).isEqualTo(1);
        assertThat(answer(operator.store().evict(KEY, member.id()).toCompletableFuture()))
                .isEqualTo(1);
        assertThat(operator.inspect(KEY).used()).isZero();
    }

    private static <T> T answer(CompletableFuture<T> future) {
        return future.orTimeout(60, TimeUnit.SECONDS).join();
    }
}
