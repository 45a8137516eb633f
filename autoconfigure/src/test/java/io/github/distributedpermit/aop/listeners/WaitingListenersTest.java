package io.github.distributedpermit.aop.listeners;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.aop.async.ListenerThreads;
import io.github.distributedpermit.aop.rabbit.WaitingRabbitListeners;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import io.github.distributedpermit.autoconfigure.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.core.QueueBuilder;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.config.BaseRabbitListenerContainerFactory;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.rabbit.listener.AbstractMessageListenerContainer;
import org.springframework.amqp.rabbit.listener.MessageListenerContainer;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpoint;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.amqp.rabbit.retry.MessageRecoverer;
import org.springframework.amqp.rabbit.retry.RepublishMessageRecoverer;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration;
import org.springframework.boot.artemis.autoconfigure.ArtemisAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jms.autoconfigure.JmsAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.jms.config.JmsListenerEndpointRegistry;
import org.springframework.jms.core.JmsTemplate;

/** Limited listeners of a real RabbitMQ and a real ActiveMQ Artemis, in instances that share a store. */
class WaitingListenersTest {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int LIMIT = 3;
    private static final int MESSAGES = Boolean.getBoolean("tests.long") ? 10_000 : 500;
    private static final int ATTEMPTS = 3;
    private static final String DEAD = "dead-";
    private static final AtomicInteger COUNT = new AtomicInteger();

    private static EmbeddedActiveMQ artemis;

    private final String queue = "queue-" + COUNT.incrementAndGet();
    private final TestDatabase database = new TestDatabase();
    private final Seen seen = new Seen();
    private final List<ConfigurableApplicationContext> instances = new ArrayList<>();

    /** A broker, and the kind of container of its listeners. */
    enum Broker {
        RABBIT("simple"),
        RABBIT_DIRECT("direct"),
        JMS("");

        final String container;

        Broker(String container) {
            this.container = container;
        }
    }

    @BeforeAll
    static void start() throws Exception {
        artemis = new EmbeddedActiveMQ();
        artemis.setConfiguration(new ConfigurationImpl()
                .setPersistenceEnabled(false)
                .setSecurityEnabled(false)
                .addAcceptorConfiguration("vm", "vm://0")
                .addAddressSetting(
                        "#",
                        new AddressSettings()
                                .setMaxDeliveryAttempts(ATTEMPTS)
                                .setDeadLetterAddress(SimpleString.of("dead"))
                                .setAutoCreateDeadLetterResources(true)
                                .setDeadLetterQueuePrefix(SimpleString.of(DEAD))));
        artemis.start();
    }

    @AfterAll
    static void stop() throws Exception {
        artemis.stop();
    }

    @AfterEach
    void close() {
        instances.forEach(ConfigurableApplicationContext::close);
    }

    /** What all instances have processed. */
    static final class Seen {

        final List<String> processed = new CopyOnWriteArrayList<>();
        final AtomicInteger running = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();
        final Map<String, AtomicInteger> attempts = new ConcurrentHashMap<>();

        void process(String message) {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            try {
                if (message.startsWith("bad")) {
                    attempts.computeIfAbsent(message, each -> new AtomicInteger())
                            .incrementAndGet();
                    throw new IllegalStateException("The listener fails");
                }
                processed.add(message);
            } finally {
                running.decrementAndGet();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = "test.broker", havingValue = "rabbit")
    @ImportAutoConfiguration(RabbitAutoConfiguration.class)
    static class Rabbit {

        @Bean
        Queue queue(@Value("${test.queue}") String name) {
            return QueueBuilder.durable(name).build();
        }

        @Bean
        Queue dead(@Value("${test.queue}") String name) {
            return QueueBuilder.durable(DEAD + name).build();
        }

        /** Publishes at once what has failed too often, also while the container stops. */
        @Bean
        MessageRecoverer recoverer(RabbitTemplate template, @Value("${test.queue}") String name) {
            return new RepublishMessageRecoverer(template, "", DEAD + name);
        }

        @Bean
        RabbitMessages messages(Seen seen) {
            return new RabbitMessages(seen);
        }
    }

    static class RabbitMessages {

        private final Seen seen;

        RabbitMessages(Seen seen) {
            this.seen = seen;
        }

        @DistributedPermit(key = "work", limit = LIMIT, timeout = "100ms")
        @RabbitListener(id = "listener", queues = "${test.queue}")
        public void receive(String message) {
            seen.process(message);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = "test.broker", havingValue = "jms")
    @ImportAutoConfiguration({ArtemisAutoConfiguration.class, JmsAutoConfiguration.class})
    static class Jms {

        @Bean
        JmsMessages messages(Seen seen) {
            return new JmsMessages(seen);
        }
    }

    static class JmsMessages {

        private final Seen seen;

        JmsMessages(Seen seen) {
            this.seen = seen;
        }

        @DistributedPermit(key = "work", limit = LIMIT, timeout = "100ms")
        @JmsListener(id = "listener", destination = "${test.queue}")
        public void receive(String message) {
            seen.process(message);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({DataSourceAutoConfiguration.class, DistributedPermitAutoConfiguration.class})
    static class Application {}

    private ConfigurableApplicationContext instance(Broker broker) {
        List<String> settings = new ArrayList<>(List.of(database.settings()));
        settings.add("test.queue=" + queue);
        if (broker == Broker.JMS) {
            settings.addAll(List.of(
                    "test.broker=jms",
                    "spring.artemis.mode=native",
                    "spring.artemis.broker-url=vm://0",
                    "spring.jms.listener.min-concurrency=2",
                    "spring.jms.listener.max-concurrency=2"));
        } else {
            settings.addAll(List.of(
                    "test.broker=rabbit",
                    "spring.rabbitmq.port=" + RabbitServer.port(),
                    "spring.rabbitmq.listener.type=" + broker.container,
                    "spring.rabbitmq.listener.simple.concurrency=2",
                    "spring.rabbitmq.listener.direct.consumers-per-queue=2",
                    "spring.rabbitmq.listener." + broker.container + ".prefetch=5",
                    "spring.rabbitmq.listener." + broker.container + ".retry.enabled=true",
                    "spring.rabbitmq.listener." + broker.container + ".retry.max-retries=" + (ATTEMPTS - 1),
                    "spring.rabbitmq.listener." + broker.container + ".retry.initial-interval=1ms"));
        }
        ConfigurableApplicationContext instance = new SpringApplicationBuilder(
                        Application.class, Rabbit.class, Jms.class)
                .web(WebApplicationType.NONE)
                .initializers(context -> context.getBeanFactory().registerSingleton("seen", seen))
                .properties(settings.toArray(String[]::new))
                .run();
        instances.add(instance);
        return instance;
    }

    private void send(Broker broker, List<String> messages) {
        ConfigurableApplicationContext instance = instances.get(0);
        if (broker == Broker.JMS) {
            JmsTemplate template = instance.getBean(JmsTemplate.class);
            messages.forEach(message -> template.convertAndSend(queue, message));
        } else {
            RabbitTemplate template = instance.getBean(RabbitTemplate.class);
            messages.forEach(message -> template.convertAndSend(queue, message));
        }
    }

    private long dead(Broker broker) {
        if (broker == Broker.JMS) {
            var dead = artemis.getActiveMQServer().locateQueue(SimpleString.of(DEAD + queue));
            return dead == null ? 0 : dead.getMessageCount();
        }
        Long count =
                instances.get(0).getBean(RabbitTemplate.class).execute(channel -> channel.messageCount(DEAD + queue));
        return count == null ? -1 : count;
    }

    private static SmartLifecycle registry(Broker broker, ConfigurableApplicationContext instance) {
        return broker == Broker.JMS
                ? instance.getBean(JmsListenerEndpointRegistry.class)
                : instance.getBean(RabbitListenerEndpointRegistry.class);
    }

    private static List<Permit> all(ConfigurableApplicationContext instance) throws InterruptedException {
        Permits permits = instance.getBean(Permits.class);
        List<Permit> held = new ArrayList<>();
        for (int i = 0; i < LIMIT; i++) {
            held.add(permits.acquire("work", SOON));
        }
        return held;
    }

    private static List<String> messages(String name, int count) {
        return IntStream.range(0, count).mapToObj(i -> name + i).toList();
    }

    /** Their calls have a time-out and the container three attempts, and they wait for longer than all of these. */
    @ParameterizedTest
    @EnumSource
    void messagesWaitAndEachIsProcessedOnce(Broker broker) throws InterruptedException {
        ConfigurableApplicationContext first = instance(broker);
        List<Permit> held = all(first);
        instance(broker);
        instance(broker);

        send(broker, messages("message-", MESSAGES));
        await().pollDelay(Duration.ofSeconds(5)).atMost(SOON).until(() -> true);
        assertThat(seen.processed).isEmpty();
        held.forEach(Permit::release);

        await().atMost(SOON.multipliedBy(3)).until(() -> seen.processed.size() >= MESSAGES);
        assertThat(seen.processed).containsExactlyInAnyOrderElementsOf(messages("message-", MESSAGES));
        assertThat(seen.most).hasValueBetween(1, LIMIT);
        assertThat(dead(broker)).isZero();
    }

    /** What the listener itself throws is counted and goes to the dead letters as ever, and what waits is not. */
    @ParameterizedTest
    @EnumSource
    void messageThatFailsGoesToTheDeadLettersAfterItsAttempts(Broker broker) throws InterruptedException {
        ConfigurableApplicationContext only = instance(broker);
        List<Permit> held = all(only);
        send(broker, List.of("bad", "good"));
        await().pollDelay(Duration.ofSeconds(3)).atMost(SOON).until(() -> true);
        held.forEach(Permit::release);

        await().atMost(SOON).until(() -> dead(broker) == 1 && seen.processed.equals(List.of("good")));
        assertThat(seen.attempts.get("bad")).hasValue(ATTEMPTS);
    }

    @ParameterizedTest
    @EnumSource
    void messagesOfAnInstanceThatStopsAreProcessedByAnother(Broker broker) throws Exception {
        ConfigurableApplicationContext one = instance(broker);
        List<Permit> held = all(one);
        send(broker, messages("message-", 20));
        await().atMost(SOON)
                .until(() -> one.getBean(Permits.class).state("work").waiting() > 0);
        if (broker != Broker.JMS) {
            one.getBean(RabbitListenerEndpointRegistry.class).getListenerContainers().stream()
                    .map(AbstractMessageListenerContainer.class::cast)
                    .forEach(container -> container.setShutdownTimeout(100));
        }

        registry(broker, one).stop();
        instance(broker);
        held.forEach(Permit::release);

        await().atMost(SOON).until(() -> seen.processed.size() >= 20);
        assertThat(seen.processed).containsExactlyInAnyOrderElementsOf(messages("message-", 20));
        assertThat(dead(broker)).isZero();
        await().atMost(SOON)
                .until(() -> one.getBean(Permits.class).state("work").waiting() == 0);
        all(one).forEach(Permit::release);
    }

    /** Containers of streams and of AMQP 1.0 call their advice with other arguments. */
    @Test
    void factoriesOfOtherContainersOfRabbitStayAsTheyAre() {
        BaseRabbitListenerContainerFactory<?> other = new BaseRabbitListenerContainerFactory<>() {
            @Override
            public MessageListenerContainer createListenerContainer(@Nullable RabbitListenerEndpoint endpoint) {
                throw new UnsupportedOperationException();
            }
        };
        new WaitingRabbitListeners(ListenerThreads::new).postProcessAfterInitialization(other, "streams");
        assertThat(other.getAdviceChain()).isNull();
    }
}
