package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.aop.PermitOperations;
import io.github.distributedpermit.aop.jms.WaitingJmsListeners;
import io.github.distributedpermit.aop.kafka.PausingListeners;
import io.github.distributedpermit.aop.rabbit.WaitingRabbitListeners;
import org.springframework.amqp.rabbit.config.AbstractRabbitListenerContainerFactory;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.annotation.RegisterReflection;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jms.config.JmsListenerEndpointRegistry;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.util.function.SingletonSupplier;

/** Limited listeners of messages. */
@Configuration(proxyBeanMethods = false)
class ListenerConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(KafkaListenerEndpointRegistry.class)
    @RegisterReflection(
            classes = AbstractMessageListenerContainer.class,
            memberCategories = MemberCategory.ACCESS_DECLARED_FIELDS)
    static class Kafka {

        @Bean
        PausingListeners distributedPermitPausingListeners(
                ObjectProvider<KafkaListenerEndpointRegistry> registries, PermitOperations operations) {
            return new PausingListeners(registries, operations.listeners());
        }

        @Bean
        ContextLifecycle distributedPermitKafkaContainers(PausingListeners listeners) {
            return beforeContainers(listeners::prepare);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(AbstractRabbitListenerContainerFactory.class)
    static class Rabbit {

        @Bean
        static WaitingRabbitListeners distributedPermitWaitingRabbitListeners(
                ObjectProvider<PermitOperations> operations) {
            return new WaitingRabbitListeners(
                    SingletonSupplier.of(() -> operations.getObject().listeners()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(JmsListenerEndpointRegistry.class)
    static class Jms {

        @Bean
        ContextLifecycle distributedPermitJmsContainers(
                ObjectProvider<JmsListenerEndpointRegistry> registries, PermitOperations operations) {
            return beforeContainers(new WaitingJmsListeners(registries, operations.listeners())::prepare);
        }
    }

    private static ContextLifecycle beforeContainers(Runnable prepare) {
        return ContextLifecycle.of(Integer.MIN_VALUE, prepare, () -> {});
    }
}
