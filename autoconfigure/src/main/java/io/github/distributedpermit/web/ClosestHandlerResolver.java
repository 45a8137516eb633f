package io.github.distributedpermit.web;

import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.annotation.ExceptionHandlerMappingInfo;
import org.springframework.web.method.annotation.ExceptionHandlerMethodResolver;
import org.springframework.web.servlet.handler.HandlerExceptionResolverComposite;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.ServletInvocableHandlerMethod;

/**
 * Spring MVC asks the advices in their order, and takes the first that handles an exception in any way. For the exceptions of permits
 * this resolver, which is asked before, takes the closest: a handler for the exception itself or its direct super type in whatever
 * advice it stands, which the library's own are among, before one for {@code Exception}, {@code RuntimeException} or
 * {@code Throwable}. It also answers functional endpoints, whose exceptions Spring gives to no advice. Handlers in the controller, and
 * exceptions of the application that one of permits has caused, are left to Spring.
 */
public final class ClosestHandlerResolver extends ExceptionHandlerExceptionResolver
        implements SmartInitializingSingleton {

    /** Before Spring's own, which has the order 0. */
    private static final int ORDER = -1;

    /** The handlers of each controller in which a call was rejected: finding them takes reflection. */
    private final Map<Class<?>, ExceptionHandlerMethodResolver> ofControllers = new ConcurrentHashMap<>();

    /** Is asked before Spring's own. */
    public ClosestHandlerResolver() {
        setOrder(ORDER);
    }

    /** Handlers get the arguments, and their results the message converters, that they have with Spring's own resolver. */
    @Override
    public void afterSingletonsInstantiated() {
        ApplicationContext context = Objects.requireNonNull(getApplicationContext());
        context.getBeansOfType(HandlerExceptionResolverComposite.class).values().stream()
                .flatMap(all -> all.getExceptionResolvers().stream())
                .filter(ExceptionHandlerExceptionResolver.class::isInstance)
                .map(ExceptionHandlerExceptionResolver.class::cast)
                .findFirst()
                .ifPresent(springs -> {
                    setArgumentResolvers(Objects.requireNonNull(springs.getArgumentResolvers())
                            .getResolvers());
                    setReturnValueHandlers(Objects.requireNonNull(springs.getReturnValueHandlers())
                            .getHandlers());
                });
    }

    @Override
    protected boolean shouldApplyTo(HttpServletRequest request, @Nullable Object handler) {
        return true;
    }

    @Override
    protected @Nullable ServletInvocableHandlerMethod getExceptionHandlerMethod(
            @Nullable HandlerMethod handlerMethod, Exception exception, ServletWebRequest request) {
        if (!PermitProblems.areFor(exception)) {
            return null;
        }
        Class<?> controller = handlerMethod == null ? null : AopUtils.getTargetClass(handlerMethod.getBean());
        if (controller != null
                && ofControllers
                                .computeIfAbsent(controller, ExceptionHandlerMethodResolver::new)
                                .resolveMethod(exception)
                        != null) {
            return null;
        }
        for (Map.Entry<ControllerAdviceBean, ExceptionHandlerMethodResolver> advice :
                getExceptionHandlerAdviceCache().entrySet()) {
            ExceptionHandlerMappingInfo handler = advice.getValue().resolveExceptionMapping(exception, MediaType.ALL);
            if (handler != null
                    && advice.getKey().isApplicableToBeanType(controller)
                    && PermitProblems.isClose(handler, exception.getClass())) {
                return new ServletInvocableHandlerMethod(advice.getKey().resolveBean(), handler.getHandlerMethod());
            }
        }
        return null;
    }
}
