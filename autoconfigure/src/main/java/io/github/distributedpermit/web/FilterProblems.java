package io.github.distributedpermit.web;

import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.ModelAndView;

/**
 * Answers a request that a servlet filter or another servlet could not get a permit for as one of Spring MVC, whose own exceptions come
 * here wrapped and are left alone. Thread-safe.
 */
public final class FilterProblems extends OncePerRequestFilter implements Ordered {

    /** Around all filters but that of observations, which sees the answer then. */
    private static final int ORDER = HIGHEST_PRECEDENCE + 2;

    private final ClosestHandlerResolver answers;

    /** Asks the same handlers as Spring MVC does. */
    public FilterProblems(ClosestHandlerResolver answers) {
        this.answers = answers;
    }

    @Override
    public int getOrder() {
        return ORDER;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        try {
            chain.doFilter(request, response);
        } catch (PermitRejectedException | PermitBackendException | PermitInterruptedException e) {
            if (response.isCommitted()) {
                throw e;
            }
            answer(request, response, e);
        }
    }

    private void answer(HttpServletRequest request, HttpServletResponse response, RuntimeException ours)
            throws IOException {
        @Nullable RequestAttributes before = RequestContextHolder.getRequestAttributes();
        RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(request, response));
        try {
            ModelAndView answer = answers.resolveException(request, response, null, ours);
            if (answer == null) {
                throw ours;
            }
            if (answer.hasView()) { // no servlet is there to render it
                response.sendError(PermitProblems.problem(ours).getStatus());
            }
        } finally {
            RequestContextHolder.setRequestAttributes(before);
        }
    }
}
