package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permits;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.Ordered;

/**
 * Puts permits around limited methods: outside of {@code @Transactional} and {@code @Cacheable}, which have the lowest
 * precedence, so that no transaction waits for a permit; a call that finds its answer in a cache takes a permit too.
 */
public final class PermitAdvisor extends DefaultPointcutAdvisor {

    private static final long serialVersionUID = 1L;

    /** The order among advisors. */
    public static final int ORDER = Ordered.LOWEST_PRECEDENCE - 100;

    /**
     * Creates the advisor.
     *
     * @param operations what each method needs
     * @param permits asked for at the first limited call
     */
    public PermitAdvisor(PermitOperations operations, ObjectProvider<Permits> permits) {
        super(new PermitPointcut(operations), new PermitInterceptor(operations, permits));
        setOrder(ORDER);
    }
}
