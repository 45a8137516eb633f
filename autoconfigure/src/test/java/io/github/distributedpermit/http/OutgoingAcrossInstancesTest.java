package io.github.distributedpermit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.CommandTimeout;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.WebClient;

/** Three instances on a real Redis call one partner, which never works on more requests at once than the limit. */
@ExtendWith(RedisExtension.class)
class OutgoingAcrossInstancesTest {

    private static final int LIMIT = 10;
    private static final int REQUESTS = 200;

    @Test
    void partnerGetsAtMostTheLimitWhateverEndsARequest(RedisServer server) throws Exception {
        ApplicationContextRunner runner = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        PropertyPlaceholderAutoConfiguration.class,
                        DataRedisAutoConfiguration.class,
                        DistributedPermitAutoConfiguration.class))
                .withInitializer(CommandTimeout.ofSeconds(5))
                .withPropertyValues(
                        "distributed-permit.backend=redis",
                        "distributed-permit.permits.partner.limit=" + LIMIT,
                        "spring.data.redis.host=127.0.0.1",
                        "spring.data.redis.port=" + server.port());
        try (Partner partner = new Partner()) {
            runner.run(one -> runner.run(two -> runner.run(three -> {
                callAll(partner, List.of(one, two, three));
                assertThat(partner.most.get()).isBetween(LIMIT / 2, LIMIT);
                assertThat(partner.requests).hasValue(REQUESTS);
                Permits permits = one.getBean(Permits.class);
                await().until(() -> permits.state("partner").inUse() == 0);
            })));
        }
    }

    private static void callAll(Partner partner, List<? extends ApplicationContext> instances) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(REQUESTS);
        try {
            List<Future<?>> calls = new ArrayList<>();
            for (int i = 0; i < REQUESTS; i++) {
                Permits permits = instances.get(i % instances.size()).getBean(Permits.class);
                int way = i / instances.size();
                calls.add(threads.submit(() -> {
                    call(partner, permits, way);
                    return null;
                }));
            }
            for (Future<?> call : calls) {
                call.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void call(Partner partner, Permits permits, int way) throws Exception {
        List<PermitRequestInterceptorTest.Call> blocking = restEnds().toList();
        List<PermitExchangeFilterTest.Call> reactive = webEnds().toList();
        int which = way % (blocking.size() + reactive.size());
        if (which < blocking.size()) {
            blocking.get(which)
                    .with(RestClient.builder()
                            .baseUrl(partner.url())
                            .requestInterceptor(new PermitRequestInterceptor(permits, "partner"))
                            .build());
        } else {
            reactive.get(which - blocking.size())
                    .with(WebClient.builder()
                            .baseUrl(partner.url())
                            .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(1_000_000))
                            .filter(new PermitExchangeFilter(permits, "partner"))
                            .build());
        }
    }

    /** All but those that send no request, or are cancelled while the partner works. */
    private static Stream<PermitRequestInterceptorTest.Call> restEnds() {
        return PermitRequestInterceptorTest.ends()
                .filter(each -> !each.getName().equals("no connection"))
                .map(each -> each.getPayload());
    }

    private static Stream<PermitExchangeFilterTest.Call> webEnds() {
        return PermitExchangeFilterTest.ends()
                .filter(each -> !each.getName().equals("no connection")
                        && !each.getName().equals("request cancelled"))
                .map(each -> each.getPayload());
    }
}
