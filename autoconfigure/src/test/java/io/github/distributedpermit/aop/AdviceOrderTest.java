package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.task.DelegatingSecurityContextAsyncTaskExecutor;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * The order among the annotations of one method, outermost first: asynchronous execution and retries, authorization, permit,
 * transaction and cache, method.
 */
class AdviceOrderTest {

    private final ApplicationContextRunner runner =
            local().withUserConfiguration(Application.class).withBean(Service.class);

    @Test
    void permitIsTakenOutsideOfTheTransaction() {
        runner.run(context -> {
            RecordingPermits permits = context.getBean(RecordingPermits.class);
            context.getBean(Service.class).inTransaction();
            assertThat(permits.events).containsExactly("+tx", "begin", "call", "commit", "-tx");
        });
    }

    @Test
    void cacheHitTakesAPermitToo() {
        runner.run(context -> {
            RecordingPermits permits = context.getBean(RecordingPermits.class);
            Service service = context.getBean(Service.class);
            assertThat(service.cached(1)).isEqualTo("1");
            assertThat(service.cached(1)).isEqualTo("1");
            assertThat(permits.events).containsExactly("+cache", "call", "-cache", "+cache", "-cache");
        });
    }

    @Test
    void eachAttemptOfARetryTakesAPermitOfItsOwnAfterTheAuthorization() {
        authenticated(() -> runner.run(context -> {
            RecordingPermits permits = context.getBean(RecordingPermits.class);
            assertThat(context.getBean(Service.class).everything("x")).isEqualTo("x");
            assertThat(permits.events)
                    .containsExactly(
                            "authorize",
                            "+all",
                            "begin",
                            "call",
                            "rollback",
                            "-all", //
                            "authorize",
                            "+all",
                            "begin",
                            "call",
                            "commit",
                            "-all");
            permits.events.clear();
            assertThat(context.getBean(Service.class).everything("x")).isEqualTo("x");
            assertThat(permits.events)
                    .as("found in the cache")
                    .startsWith("authorize", "+all")
                    .endsWith("-all")
                    .doesNotContain("call");
        }));
    }

    @Test
    void callThatIsNotAuthorizedTakesNoPermit() {
        authenticated(() -> runner.run(context -> {
            RecordingPermits permits = context.getBean(RecordingPermits.class);
            Service service = context.getBean(Service.class);
            assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(service::forbidden);
            assertThat(permits.events).isEmpty();
        }));
    }

    @Test
    void rejectionIsRetriedToo() {
        runner.run(context -> {
            RecordingPermits permits = context.getBean(RecordingPermits.class);
            permits.failure = new PermitRejectedException(
                    "retried", "retried", PermitRejectedException.Reason.LIMIT_REACHED, "of the test");
            assertThatExceptionOfType(PermitRejectedException.class)
                    .isThrownBy(context.getBean(Service.class)::retried);
            assertThat(permits.asked).hasValue(3);
        });
    }

    @Test
    void asynchronousExecutionIsOutsideOfEverythingElse() {
        authenticated(() -> runner.run(context -> {
            RecordingPermits permits = context.getBean(RecordingPermits.class);
            String worker = context.getBean(Service.class).asynchronous().get(20, TimeUnit.SECONDS);
            assertThat(worker).startsWith("worker-");
            await().until(() -> permits.events.contains("-async"));
            assertThat(permits.events).containsExactly("authorize", "+async", "begin", "call", "commit", "-async");
            assertThat(permits.threads).containsOnly(worker);
        }));
    }

    @Test
    void scheduledMethodHasAllItsAdvice() {
        runner.withUserConfiguration(Scheduling.class)
                .withBean(ScheduledTransaction.class)
                .run(context -> await().untilAsserted(() -> assertThat(context.getBean(RecordingPermits.class).events)
                        .containsExactly("+job", "begin", "call", "commit", "-job")));
    }

    /** As the documentation says how to change the order. */
    @Test
    void transactionWithALowerOrderIsOutsideOfThePermit() {
        local().withUserConfiguration(TransactionOutside.class)
                .withBean(Service.class)
                .run(context -> {
                    context.getBean(Service.class).inTransaction();
                    assertThat(context.getBean(RecordingPermits.class).events)
                            .containsExactly("begin", "+tx", "call", "-tx", "commit");
                });
    }

    private static void authenticated(Runnable test) {
        TestingAuthenticationToken user = new TestingAuthenticationToken("user", "", "ROLE_USER");
        SecurityContextHolder.getContext().setAuthentication(user);
        try {
            test.run();
        } finally {
            SecurityContextHolder.clearContext();
        }
    }

    @Test
    void scheduledMethodTakesItsPermit() {
        local().withUserConfiguration(Scheduling.class)
                .withBean(ScheduledService.class)
                .run(context -> {
                    ScheduledService service = context.getBean(ScheduledService.class);
                    await().until(() -> service.runs().get() > 2);
                    try (Permit taken = context.getBean(Permits.class).acquire("scheduled")) {
                        int before = service.runs().get();
                        assertThat(taken.isHeld()).isTrue();
                        service.run(); // skipped, since it is scheduled and does not wait
                        assertThat(service.runs().get()).isEqualTo(before);
                    }
                });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    @EnableCaching
    @EnableAsync
    @EnableResilientMethods
    @EnableMethodSecurity
    static class Application extends Beans {

        @Bean
        AsyncTaskExecutor taskExecutor() {
            return new DelegatingSecurityContextAsyncTaskExecutor(new SimpleAsyncTaskExecutor("worker-"));
        }

        @Bean
        Guard guard(RecordingPermits permits) {
            return new Guard(permits);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = PermitAdvisor.ORDER - 1)
    static class TransactionOutside extends Beans {}

    static class Beans {

        @Bean
        RecordingPermits recordingPermits() {
            return new RecordingPermits();
        }

        @Bean
        PlatformTransactionManager transactionManager(RecordingPermits permits) {
            return new RecordingTransactions(permits);
        }

        @Bean
        CacheManager cacheManager() {
            return new ConcurrentMapCacheManager();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Scheduling {}

    /** Decides about calls, and writes that down. */
    public static class Guard {
        private final RecordingPermits permits;

        Guard(RecordingPermits permits) {
            this.permits = permits;
        }

        public boolean allows() {
            return permits.events.add("authorize");
        }
    }

    static class ScheduledTransaction {
        private final RecordingPermits permits;

        ScheduledTransaction(RecordingPermits permits) {
            this.permits = permits;
        }

        @Scheduled(fixedDelay = 1, timeUnit = TimeUnit.HOURS)
        @Transactional
        @DistributedPermit(key = "job", limit = 1, block = false)
        public void run() {
            permits.events.add("call");
        }
    }

    static class Service {
        private final RecordingPermits permits;
        private final AtomicInteger attempts = new AtomicInteger();

        Service(RecordingPermits permits) {
            this.permits = permits;
        }

        @Transactional
        @DistributedPermit(key = "tx", limit = 1)
        public void inTransaction() {
            permits.events.add("call");
        }

        @Retryable(delay = 1)
        @PreAuthorize("@guard.allows()")
        @Transactional
        @Cacheable("all")
        @DistributedPermit(key = "all", limit = 1)
        public String everything(String value) {
            permits.events.add("call");
            if (attempts.incrementAndGet() == 1) {
                throw new IllegalStateException("of the first attempt");
            }
            return value;
        }

        @PreAuthorize("denyAll()")
        @DistributedPermit(key = "forbidden", limit = 1)
        public void forbidden() {
            permits.events.add("call");
        }

        @Retryable(maxRetries = 2, delay = 1)
        @DistributedPermit(key = "retried", limit = 1)
        public void retried() {}

        @Async
        @PreAuthorize("@guard.allows()")
        @Transactional
        @DistributedPermit(key = "async", limit = 1)
        public CompletableFuture<String> asynchronous() {
            permits.events.add("call");
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }

        @Cacheable("values")
        @DistributedPermit(key = "cache", limit = 1)
        public String cached(int id) {
            permits.events.add("call");
            return Integer.toString(id);
        }
    }

    static class ScheduledService {
        private final AtomicInteger runs = new AtomicInteger();

        AtomicInteger runs() {
            return runs;
        }

        @Scheduled(fixedDelay = 5)
        @DistributedPermit(key = "scheduled", limit = 1, block = false)
        public void run() {
            runs.incrementAndGet();
        }
    }

    static class RecordingTransactions extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1L;

        private final transient RecordingPermits permits;

        RecordingTransactions(RecordingPermits permits) {
            this.permits = permits;
        }

        @Override
        protected Object doGetTransaction() {
            return this;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            permits.events.add("begin");
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            permits.events.add("commit");
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            permits.events.add("rollback");
        }
    }
}
