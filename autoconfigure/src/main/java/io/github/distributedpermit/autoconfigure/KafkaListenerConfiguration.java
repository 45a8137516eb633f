package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.aop.PermitOperations;
import io.github.distributedpermit.aop.kafka.PausingListeners;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.annotation.RegisterReflection;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/** Limited listeners of Kafka. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(KafkaListenerEndpointRegistry.class)
@RegisterReflection(
        classes = AbstractMessageListenerContainer.class,
        memberCategories = MemberCategory.ACCESS_DECLARED_FIELDS)
class KafkaListenerConfiguration {

    @Bean
    PausingListeners distributedPermitPausingListeners(
            ObjectProvider<KafkaListenerEndpointRegistry> registries, PermitOperations operations) {
        return new PausingListeners(registries, operations.listeners());
    }
}
