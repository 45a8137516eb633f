package io.github.distributedpermit.web;

import io.github.distributedpermit.PermitRejectedException;
import java.util.Objects;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.util.ClassUtils;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.method.annotation.ExceptionHandlerMappingInfo;
import org.springframework.web.method.annotation.ExceptionHandlerMethodResolver;

/** Warns at start that a handler for every exception, which WebFlux asks first, answers rejected requests. */
public final class CatchAllWarning implements SmartInitializingSingleton {

    private static final Log log = LogFactory.getLog(CatchAllWarning.class);

    private final ApplicationContext context;

    /** Warns of the advices of this application. */
    public CatchAllWarning(ApplicationContext context) {
        this.context = context;
    }

    @Override
    public void afterSingletonsInstantiated() {
        for (ControllerAdviceBean advice : ControllerAdviceBean.findAnnotatedBeans(context)) {
            Class<?> type = Objects.requireNonNull(advice.getBeanType());
            ExceptionHandlerMappingInfo handler = new ExceptionHandlerMethodResolver(type)
                    .resolveExceptionMappingByExceptionType(PermitRejectedException.class, MediaType.ALL);
            if (handler != null) {
                if (!PermitProblems.isClose(handler, PermitRejectedException.class)) {
                    log.warn("Requests that get no permit are answered by " + ClassUtils.getShortName(type) + "."
                            + handler.getHandlerMethod().getName()
                            + "(), which handles every exception, and not with 429"
                            + " or 503. Handle PermitRejectedException and PermitBackendException too, or declare a"
                            + " PermitProblems bean with an @Order before that advice");
                }
                return;
            }
        }
    }
}
