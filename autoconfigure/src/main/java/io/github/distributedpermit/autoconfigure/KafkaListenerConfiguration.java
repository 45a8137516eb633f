package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.aop.PermitOperations;
import io.github.distributedpermit.aop.kafka.PausingListeners;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;

/** Limited listeners of Kafka. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(KafkaListenerEndpointRegistry.class)
class KafkaListenerConfiguration {

    @Bean
    PausingListeners distributedPermitPausingListeners(
            ObjectProvider<KafkaListenerEndpointRegistry> registries,
            ObjectProvider<ConsumerFactory<?, ?>> consumers,
            PermitOperations operations) {
        return new PausingListeners(registries, consumers, operations.listeners());
    }
}
