package io.github.distributedpermit.aop.kafka;

import io.github.distributedpermit.aop.async.ListenerThreads;
import java.lang.reflect.Field;
import java.time.Duration;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.event.ConsumerStartedEvent;
import org.springframework.kafka.event.ConsumerStoppedEvent;
import org.springframework.kafka.event.KafkaEvent;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.util.ReflectionUtils;

/**
 * Lets the containers of {@code @KafkaListener} methods pause while a message waits for its permit.
 * Containers with transactions stay as they are: they roll back instead of asking an error handler. So do consumers that
 * commit by themselves: while they poll, they would commit also messages that wait.
 */
public final class PausingListeners implements ApplicationListener<KafkaEvent> {

    private final ObjectProvider<KafkaListenerEndpointRegistry> registries;
    private final ListenerThreads threads;

    /** For the containers in these registries, whose threads become known. */
    public PausingListeners(ObjectProvider<KafkaListenerEndpointRegistry> registries, ListenerThreads threads) {
        this.registries = registries;
        this.threads = threads;
    }

    /** To be called before the containers start. */
    public void prepare() {
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
                && container.getCommonErrorHandler() instanceof PausingErrorHandler
                && !commitsByItself(container)) {
            threads.begin(Duration.ofMillis(container.getContainerProperties().getIdleBetweenPolls()));
        }
    }

    /** Also with an event multicaster that has threads of its own. */
    @Override
    public boolean supportsAsyncExecution() {
        return false;
    }

    /** As the container determines it, and also if that cannot be known: then waiting on the thread loses nothing. */
    private static boolean commitsByItself(AbstractMessageListenerContainer<?, ?> container) {
        Object override = container
                .getContainerProperties()
                .getKafkaConsumerProperties()
                .get(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG);
        if (override != null) {
            return Boolean.parseBoolean(override.toString());
        }
        return !(factory(container) instanceof ConsumerFactory<?, ?> factory)
                || factory.getConfigurationProperties().containsKey(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG)
                        && factory.isAutoCommit();
    }

    /** Containers have no method that returns it. */
    private static @Nullable Object factory(AbstractMessageListenerContainer<?, ?> container) {
        Field field = ReflectionUtils.findField(AbstractMessageListenerContainer.class, "consumerFactory");
        if (field == null) {
            return null;
        }
        ReflectionUtils.makeAccessible(field);
        return ReflectionUtils.getField(field, container);
    }
}
