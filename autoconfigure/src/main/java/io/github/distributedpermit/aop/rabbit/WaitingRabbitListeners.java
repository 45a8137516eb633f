package io.github.distributedpermit.aop.rabbit;

import com.rabbitmq.client.Channel;
import io.github.distributedpermit.aop.async.ListenerThreads;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.rabbit.config.BaseRabbitListenerContainerFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Lets the messages of containers wait for their permits. It is the first advice of each container that a factory makes: those
 * behind it may retry and recover what fails, such as a message that gets no permit, until its channel is closed.
 */
public final class WaitingRabbitListeners implements BeanPostProcessor {

    private final Supplier<ListenerThreads> threads;

    /** The threads become known when the first message comes. */
    public WaitingRabbitListeners(Supplier<ListenerThreads> threads) {
        this.threads = threads;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (bean instanceof BaseRabbitListenerContainerFactory<?> factory) {
            List<Advice> chain = new ArrayList<>();
            chain.add((MethodInterceptor) this::deliver);
            Advice @Nullable [] given = factory.getAdviceChain();
            if (given != null) {
                chain.addAll(List.of(given));
            }
            factory.setAdviceChain(chain.toArray(Advice[]::new));
        }
        return bean;
    }

    private @Nullable Object deliver(MethodInvocation delivery) throws Throwable {
        Channel channel = (Channel) Objects.requireNonNull(delivery.getArguments()[0]);
        threads.get().beginWaiting(channel::isOpen);
        try {
            return delivery.proceed();
        } finally {
            threads.get().end();
        }
    }
}
