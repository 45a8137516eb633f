package io.github.distributedpermit.aop.kafka;

import io.github.distributedpermit.aop.async.ListenerThreads;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.event.ConsumerStartedEvent;
import org.springframework.kafka.event.ConsumerStoppedEvent;
import org.springframework.kafka.event.KafkaEvent;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Lets the containers of {@code @KafkaListener} methods pause while a message waits for its permit. It gets ready before they
 * start. Containers with transactions stay as they are: they roll back instead of asking an error handler.
 */
public final class PausingListeners implements SmartLifecycle, ApplicationListener<KafkaEvent> {

    private static final String AUTO_COMMIT = ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG;

    private final ObjectProvider<KafkaListenerEndpointRegistry> registries;
    private final ObjectProvider<ConsumerFactory<?, ?>> consumers;
    private final ListenerThreads threads;

    /** For the containers in these registries, whose threads become known. */
    public PausingListeners(
            ObjectProvider<KafkaListenerEndpointRegistry> registries,
            ObjectProvider<ConsumerFactory<?, ?>> consumers,
            ListenerThreads threads) {
        this.registries = registries;
        this.consumers = consumers;
        this.threads = threads;
    }

    @Override
    public void start() {
        registries.stream()
                .flatMap(registry -> registry.getAllListenerContainers().stream())
                .forEach(this::prepare);
    }

    private void prepare(MessageListenerContainer container) {
        if (container instanceof AbstractMessageListenerContainer<?, ?> prepared
                && !(prepared.getCommonErrorHandler() instanceof PausingErrorHandler)
                && prepared.getContainerProperties().getKafkaAwareTransactionManager() == null
                && prepared.getContainerProperties().getIdleBetweenPolls() == 0 // a permit would wait for the next poll
                && !commitsByItself(prepared)) {
            CommonErrorHandler given = prepared.getCommonErrorHandler();
            prepared.setCommonErrorHandler(
                    new PausingErrorHandler(given == null ? new DefaultErrorHandler() : given, threads));
        }
    }

    /** Kafka would commit all that it has given to a consumer that polls, also messages that wait, which a stop would lose then. */
    private boolean commitsByItself(AbstractMessageListenerContainer<?, ?> container) {
        String ofContainer =
                container.getContainerProperties().getKafkaConsumerProperties().getProperty(AUTO_COMMIT);
        return ofContainer != null
                ? Boolean.parseBoolean(ofContainer)
                : consumers.stream()
                        .map(factory -> factory.getConfigurationProperties().get(AUTO_COMMIT))
                        .anyMatch(value -> Boolean.parseBoolean(String.valueOf(value)));
    }

    /** Both events are published on the thread of the consumer. */
    @Override
    public void onApplicationEvent(KafkaEvent event) {
        if (event instanceof ConsumerStoppedEvent) {
            threads.end();
        } else if (event instanceof ConsumerStartedEvent
                && event.getSource() instanceof AbstractMessageListenerContainer<?, ?> container
                && container.getCommonErrorHandler() instanceof PausingErrorHandler) {
            threads.begin();
        }
    }

    @Override
    public void stop() {}

    @Override
    public boolean isRunning() {
        return false;
    }

    /** Before all containers. */
    @Override
    public int getPhase() {
        return Integer.MIN_VALUE;
    }
}
