package io.github.distributedpermit.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Conditional;

/** Matches if this backend is the one to use. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnBackendCondition.class)
@interface ConditionalOnBackend {

    /** The backend. */
    Backend value();
}
