package io.github.distributedpermit.aop.rabbit;

import com.rabbitmq.client.Channel;
import io.github.distributedpermit.aop.async.ListenerThreads;
import io.github.distributedpermit.aop.async.PermitPendingException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.rabbit.config.AbstractRabbitListenerContainerFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Lets the messages of containers wait for their permits, around and behind the advice of the application: this may retry, count
 * and recover what fails, and a message that gets no permit before its channel is closed has not failed. Containers of streams and of
 * AMQP 1.0 have no channel, and stay as they are.
 */
public final class WaitingRabbitListeners implements BeanPostProcessor {

    private final Supplier<ListenerThreads> threads;
    /** Of the delivery on this thread, if its listener was not called. */
    private final ThreadLocal<@Nullable PermitPendingException> pending = new ThreadLocal<>();

    /** The threads become known when the first message comes. */
    public WaitingRabbitListeners(Supplier<ListenerThreads> threads) {
        this.threads = threads;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (bean instanceof AbstractRabbitListenerContainerFactory<?> factory) {
            List<Advice> chain = new ArrayList<>();
            chain.add((MethodInterceptor) this::deliver);
            Advice @Nullable [] given = factory.getAdviceChain();
            if (given != null) {
                chain.addAll(List.of(given));
            }
            chain.add((MethodInterceptor) this::call);
            factory.setAdviceChain(chain.toArray(Advice[]::new));
        }
        return bean;
    }

    private @Nullable Object deliver(MethodInvocation delivery) throws Throwable {
        Channel channel = (Channel) Objects.requireNonNull(delivery.getArguments()[0]);
        threads.get().beginWaiting(channel::isOpen);
        try {
            Object answer = delivery.proceed();
            PermitPendingException ended = pending.get();
            if (ended != null) {
                throw ended; // so that the container does not acknowledge the message
            }
            return answer;
        } finally {
            pending.remove();
            threads.get().end();
        }
    }

    private @Nullable Object call(MethodInvocation delivery) throws Throwable {
        try {
            return delivery.proceed();
        } catch (RuntimeException e) {
            PermitPendingException ended = PermitPendingException.in(e);
            if (ended == null) {
                throw e;
            }
            pending.set(ended);
            return null;
        }
    }
}
