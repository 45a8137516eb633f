package io.github.distributedpermit.aop.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.aop.async.ListenerThreads;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import io.github.distributedpermit.autoconfigure.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.SimpleApplicationEventMulticaster;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ContainerCustomizer;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.event.ConsumerStoppedEvent;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ConsumerAwareRebalanceListener;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;
import org.springframework.util.backoff.FixedBackOff;

/** Limited listeners of a real Kafka broker, in instances that share a store. */
class PausingListenersTest {

    private static final Duration SOON = Duration.ofSeconds(120);
    private static final int LIMIT = 3;
    private static final int PARTITIONS = 6;
    private static final int CONCURRENCY = 2;
    private static final Duration POLL_INTERVAL = Duration.ofSeconds(14);
    private static final Duration LONGER = POLL_INTERVAL.plusSeconds(2);
    private static final int MESSAGES = Boolean.getBoolean("tests.long") ? 10_000 : 2_000;
    private static final AtomicInteger COUNT = new AtomicInteger();

    private static EmbeddedKafkaKraftBroker broker;

    private final String topic = "topic-" + COUNT.incrementAndGet();
    private final TestDatabase database = new TestDatabase();
    private final Seen seen = new Seen();
    private String listener = "record";
    private boolean autoCommit;
    private final List<ConfigurableApplicationContext> instances = new ArrayList<>();

    @BeforeAll
    static void start() {
        broker = new EmbeddedKafkaKraftBroker(1, 1);
        broker.afterPropertiesSet();
    }

    @AfterAll
    static void stop() {
        broker.destroy();
    }

    @AfterEach
    void close() {
        instances.forEach(ConfigurableApplicationContext::close);
    }

    /** What all instances have processed. */
    static final class Seen {

        final Map<Integer, List<Long>> offsets = new ConcurrentHashMap<>();
        final AtomicInteger processed = new AtomicInteger();
        final AtomicInteger running = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();
        final List<TopicPartition> taken = new CopyOnWriteArrayList<>();
        final List<String> recovered = new CopyOnWriteArrayList<>();
        final Map<String, Integer> failures = new ConcurrentHashMap<>();

        void process(ConsumerRecord<String, String> record) {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            try {
                int left = failures.merge(record.value(), -1, Integer::sum);
                if (left >= 0) {
                    throw new IllegalStateException("fails " + left + " times more");
                }
                offsets.computeIfAbsent(record.partition(), partition -> new CopyOnWriteArrayList<>())
                        .add(record.offset());
                processed.incrementAndGet();
            } finally {
                running.decrementAndGet();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        DataSourceAutoConfiguration.class,
        KafkaAutoConfiguration.class,
        DistributedPermitAutoConfiguration.class
    })
    static class Application {

        @Bean
        @ConditionalOnProperty(name = "test.listener", havingValue = "record")
        Listener listener(Seen seen) {
            return new Listener(seen);
        }

        @Bean
        @ConditionalOnProperty(name = "test.listener", havingValue = "batch")
        BatchListener batchListener(Seen seen) {
            return new BatchListener(seen);
        }

        @Bean
        @ConditionalOnProperty(name = "test.listener", havingValue = "handler")
        Handler handler(Seen seen) {
            return new Handler(seen);
        }

        @Bean
        @ConditionalOnProperty(name = "test.listener", havingValue = "changing")
        ChangingListener changingListener(Seen seen) {
            return new ChangingListener(seen);
        }

        @Bean
        DefaultErrorHandler errorHandler(Seen seen) {
            return new DefaultErrorHandler(
                    (record, failure) -> seen.recovered.add(String.valueOf(record.value())), new FixedBackOff(0, 2));
        }

        @Bean
        ContainerCustomizer<Object, Object, ConcurrentMessageListenerContainer<Object, Object>> rebalances(Seen seen) {
            return container -> container
                    .getContainerProperties()
                    .setConsumerRebalanceListener(new ConsumerAwareRebalanceListener() {
                        @Override
                        public void onPartitionsRevokedBeforeCommit(
                                Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
                            seen.taken.addAll(partitions);
                        }

                        @Override
                        public void onPartitionsLost(Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
                            seen.taken.addAll(partitions);
                        }
                    });
        }
    }

    static class Listener {

        private final Seen seen;

        Listener(Seen seen) {
            this.seen = seen;
        }

        @DistributedPermit(key = "work", limit = LIMIT)
        @KafkaListener(id = "listener", topics = "${test.topic}", groupId = "${test.topic}")
        public void receive(ConsumerRecord<String, String> record) {
            seen.process(record);
        }
    }

    static class ChangingListener {

        private final Seen seen;
        private final AtomicInteger deliveries = new AtomicInteger();

        ChangingListener(Seen seen) {
            this.seen = seen;
        }

        /** Another value at each delivery, as of an expression that reads the age of the message. */
        public int next() {
            return deliveries.incrementAndGet();
        }

        @DistributedPermit(
                key = "work",
                limit = LIMIT,
                headStart = "#{#root.target.next()}ms",
                fairBy = "group",
                fairWeight = "#{#root.target.next()}")
        @KafkaListener(id = "listener", topics = "${test.topic}", groupId = "${test.topic}")
        public void receive(ConsumerRecord<String, String> record) {
            seen.process(record);
        }
    }

    static class BatchListener {

        private final Seen seen;

        BatchListener(Seen seen) {
            this.seen = seen;
        }

        @DistributedPermit(key = "work", limit = LIMIT)
        @KafkaListener(id = "listener", topics = "${test.topic}", groupId = "${test.topic}", batch = "true")
        public void receive(List<ConsumerRecord<String, String>> records) {
            records.forEach(seen::process);
        }
    }

    @KafkaListener(id = "listener", topics = "${test.topic}", groupId = "${test.topic}")
    static class Handler {

        private final Seen seen;

        Handler(Seen seen) {
            this.seen = seen;
        }

        @DistributedPermit(key = "work", limit = LIMIT)
        @KafkaHandler
        public void receive(String value) {
            seen.process(new ConsumerRecord<>("", 0, 0, null, value));
        }
    }

    private ConfigurableApplicationContext instance() {
        List<String> settings = new ArrayList<>(List.of(database.settings()));
        settings.addAll(List.of(
                "test.topic=" + topic,
                "test.listener=" + listener,
                "spring.kafka.bootstrap-servers=" + broker.getBrokersAsString(),
                "spring.kafka.consumer.auto-offset-reset=earliest",
                "spring.kafka.consumer.properties[max.poll.interval.ms]=" + POLL_INTERVAL.toMillis(),
                "spring.kafka.consumer.max-poll-records=2",
                "spring.kafka.consumer.enable-auto-commit=" + autoCommit,
                "spring.kafka.consumer.auto-commit-interval=100ms",
                "spring.kafka.listener.concurrency=" + CONCURRENCY));
        ConfigurableApplicationContext instance = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .initializers(context -> context.getBeanFactory().registerSingleton("seen", seen))
                .properties(settings.toArray(String[]::new))
                .run();
        instances.add(instance);
        return instance;
    }

    private ConfigurableApplicationContext instances(int count) {
        broker.addTopics(new NewTopic(topic, PARTITIONS, (short) 1));
        for (int i = 0; i < count; i++) {
            instance();
        }
        int each = PARTITIONS / count / CONCURRENCY;
        await().atMost(SOON)
                .until(() -> instances.stream()
                        .flatMap(instance -> container(instance).getContainers().stream())
                        .allMatch(consumer -> Objects.requireNonNull(consumer.getAssignedPartitions())
                                        .size()
                                == each));
        return instances.get(0);
    }

    private static ConcurrentMessageListenerContainer<?, ?> container(ConfigurableApplicationContext instance) {
        return (ConcurrentMessageListenerContainer<?, ?>) Objects.requireNonNull(
                instance.getBean(KafkaListenerEndpointRegistry.class).getListenerContainer("listener"));
    }

    @SuppressWarnings("unchecked")
    private void send(int count) {
        KafkaTemplate<String, String> template = instances.get(0).getBean(KafkaTemplate.class);
        for (int i = 0; i < count; i++) {
            template.send(topic, i % PARTITIONS, null, "message-" + i);
        }
        template.flush();
    }

    private static List<Permit> all(ConfigurableApplicationContext instance) throws InterruptedException {
        Permits permits = instance.getBean(Permits.class);
        List<Permit> held = new ArrayList<>();
        for (int i = 0; i < LIMIT; i++) {
            held.add(permits.acquire("work"));
        }
        return held;
    }

    @Test
    void messagesWaitForLongerThanThePollIntervalAndEachIsProcessedOnceAndInOrder() throws InterruptedException {
        ConfigurableApplicationContext first = instances(3);
        List<Permit> held = all(first);
        seen.taken.clear(); // by the consumers that started later

        send(MESSAGES);
        await().pollDelay(LONGER).atMost(SOON).until(() -> true);
        assertThat(seen.processed).hasValue(0);
        held.forEach(Permit::release);

        await().atMost(SOON.multipliedBy(3)).until(() -> seen.processed.get() >= MESSAGES);
        assertThat(seen.taken).isEmpty();
        assertThat(seen.most).hasValueBetween(1, LIMIT);
        assertThat(seen.processed).hasValue(MESSAGES);
        assertThat(seen.recovered).isEmpty();
        assertThat(seen.offsets).hasSize(PARTITIONS);
        seen.offsets.values().forEach(offsets -> assertThat(offsets).isSorted().doesNotHaveDuplicates());
    }

    /** The error handler of the application counts them as before, and nothing that waits. */
    @Test
    void messageThatWaitsCountsNoAttemptAndOneThatFailsDoes() throws InterruptedException {
        ConfigurableApplicationContext only = instances(1);
        seen.failures.put("message-0", 2);
        seen.failures.put("message-1", 3);
        List<Permit> held = all(only);
        send(2);
        await().atMost(SOON).until(() -> waiting(only) > 0);
        held.forEach(Permit::release);

        await().atMost(SOON).until(() -> seen.processed.get() == 1 && seen.recovered.size() == 1);
        assertThat(seen.recovered).containsExactly("message-1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"batch", "handler"})
    void otherKindsOfListenersWaitAsWell(String kind) throws InterruptedException {
        listener = kind;
        ConfigurableApplicationContext only = instances(1);
        List<Permit> held = all(only);
        send(PARTITIONS);
        await().atMost(SOON).until(() -> waiting(only) > 0);
        held.forEach(Permit::release);

        await().atMost(SOON).until(() -> seen.processed.get() == PARTITIONS);
        assertThat(seen.recovered).isEmpty();
    }

    /** A call in code that waits behind a message. */
    private CompletableFuture<Permit> behindAMessage(ConfigurableApplicationContext only) {
        send(1);
        await().atMost(SOON).until(() -> waiting(only) == 1);
        CompletableFuture<Permit> other = only.getBean(Permits.class).acquireAsync("work");
        await().atMost(SOON).until(() -> waiting(only) == 2);
        return other;
    }

    @Test
    void messageWhoseHeadStartAndWeightChangeKeepsItsPermit() throws Exception {
        listener = "changing";
        ConfigurableApplicationContext only = instances(1);
        List<Permit> held = all(only);
        CompletableFuture<Permit> other = behindAMessage(only);

        held.remove(0).release();

        held.add(other.get(SOON.toSeconds(), TimeUnit.SECONDS));
        assertThat(seen.processed).hasValue(1);
        held.forEach(Permit::release);
    }

    @Test
    void eventsOfConsumersAreHandledOnTheirThread() {
        ListenerThreads threads = new ListenerThreads();
        SimpleApplicationEventMulticaster multicaster = new SimpleApplicationEventMulticaster();
        multicaster.setTaskExecutor(new SimpleAsyncTaskExecutor());
        multicaster.addApplicationListener(new PausingListeners(
                new StaticListableBeanFactory().getBeanProvider(KafkaListenerEndpointRegistry.class), threads));
        threads.begin(Duration.ZERO);

        multicaster.multicastEvent(new ConsumerStoppedEvent(this, this, ConsumerStoppedEvent.Reason.NORMAL));

        assertThat(threads.pausing()).isNull();
    }

    @Test
    void permitThatNoMessageClaimsIsReturned() throws InterruptedException {
        ConfigurableApplicationContext one = instances(1);
        List<Permit> held = all(one);
        send(1);
        await().atMost(SOON).until(() -> waiting(one) == 1);

        container(one).pause(); // by the application, which may resume it at any time
        held.forEach(Permit::release);

        all(one).forEach(Permit::release);
        assertThat(seen.processed).hasValue(0);
        container(one).resume();
        await().atMost(SOON).until(() -> seen.processed.get() == 1);
    }

    @Test
    void stoppedContainerLeavesTheQueueAndAnotherInstanceProcessesTheMessage() throws InterruptedException {
        ConfigurableApplicationContext one = instances(1);
        List<Permit> held = all(one);
        send(1);
        await().atMost(SOON).until(() -> waiting(one) == 1);

        container(one).stop();

        await().atMost(SOON).until(() -> waiting(one) == 0);
        instance();
        held.forEach(Permit::release);
        await().atMost(SOON).until(() -> seen.processed.get() == 1);
        all(one).forEach(Permit::release); // none was kept for a message that has gone elsewhere
    }

    /** Kafka would commit what it has given to a consumer that goes on polling, also messages that wait. */
    @Test
    void consumerThatCommitsByItselfLosesNoMessageWhenItStops() throws InterruptedException {
        autoCommit = true;
        ConfigurableApplicationContext one = instances(1);
        List<Permit> held = all(one);
        send(PARTITIONS);
        await().atMost(SOON).until(() -> waiting(one) == CONCURRENCY);
        await().pollDelay(Duration.ofSeconds(1)).atMost(SOON).until(() -> true); // for several commits, if it polls

        container(one).getContainerProperties().setShutdownTimeout(1_000);
        container(one).stop();
        held.forEach(Permit::release);

        instance();
        await().atMost(SOON).until(() -> seen.offsets.size() == PARTITIONS);
    }

    /** The retries of a batch are calls within one handling of its failure, during which its permit may go to another call. */
    @Test
    void batchThatWaitsBetweenItsRetriesCountsNoAttempt() throws Exception {
        listener = "batch";
        ConfigurableApplicationContext only = instances(1);
        seen.failures.put("message-0", 2);
        seen.taken.clear();
        List<Permit> held = all(only);
        CompletableFuture<Permit> other = behindAMessage(only);

        held.remove(0).release();
        held.add(other.get(SOON.toSeconds(), TimeUnit.SECONDS)); // after the batch has failed
        await().pollDelay(LONGER).atMost(SOON).until(() -> true);
        assertThat(seen.recovered).isEmpty();
        assertThat(waiting(only)).isEqualTo(1);
        held.forEach(Permit::release);

        await().atMost(SOON).until(() -> seen.processed.get() == 1);
        assertThat(seen.recovered).isEmpty();
        assertThat(seen.taken).isEmpty();
    }

    private static int waiting(ConfigurableApplicationContext instance) {
        return instance.getBean(Permits.class).state("work").waiting();
    }
}
