package io.github.distributedpermit.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** See {@link ConditionalOnBackend}. */
final class OnBackendCondition extends SpringBootCondition {

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        Backend backend =
                metadata.getAnnotations().get(ConditionalOnBackend.class).getEnum("value", Backend.class);
        BackendChoice choice = BackendChoice.of(context.getEnvironment(), context.getClassLoader());
        ConditionMessage.Builder message = ConditionMessage.forCondition(ConditionalOnBackend.class, backend.id());
        if (choice.taken().filter(backend::equals).isPresent()) {
            return ConditionOutcome.match(message.because(
                    choice.wanted().isPresent() ? "distributed-permit.backend says so" : "it is the only one there"));
        }
        return ConditionOutcome.noMatch(message.because(
                "wanted " + choice.wanted().map(Backend::id).orElse("any") + ", present " + choice.present()));
    }
}
