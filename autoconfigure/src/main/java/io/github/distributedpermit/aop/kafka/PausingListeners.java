package io.github.distributedpermit.aop.kafka;

import io.github.distributedpermit.aop.async.ListenerThreads;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
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

    private final ObjectProvider<KafkaListenerEndpointRegistry> registries;
    private final ListenerThreads threads;

    /** For the containers in these registries, whose threads become known. */
    public PausingListeners(ObjectProvider<KafkaListenerEndpointRegistry> registries, ListenerThreads threads) {
        this.registries = registries;
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
                && prepared.getContainerProperties().getKafkaAwareTransactionManager() == null) {
            CommonErrorHandler given = prepared.getCommonErrorHandler();
            prepared.setCommonErrorHandler(
                    new PausingErrorHandler(given == null ? new DefaultErrorHandler() : given, threads));
        }
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
