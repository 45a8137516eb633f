package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/** The order among the annotations of one method, outermost first: permit, transaction or cache, method. */
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
    static class Application {

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

    static class Service {
        private final RecordingPermits permits;

        Service(RecordingPermits permits) {
            this.permits = permits;
        }

        @Transactional
        @DistributedPermit(key = "tx", limit = 1)
        public void inTransaction() {
            permits.events.add("call");
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
