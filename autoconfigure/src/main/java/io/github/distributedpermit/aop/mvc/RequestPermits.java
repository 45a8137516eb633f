package io.github.distributedpermit.aop.mvc;

import io.github.distributedpermit.aop.async.PermitBundle;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.async.AsyncWebRequest;
import org.springframework.web.context.request.async.CallableProcessingInterceptor;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.DeferredResultProcessingInterceptor;

/**
 * The permits of one request whose work goes on after its controller has returned. Thread-safe.
 *
 * <p>A deferred result, as which Spring MVC handles emitters too, ends with its value, a time-out or the request. A task
 * may run on after its request has timed out: then it ends when it returns. One that has not begun at the end of its request
 * can't begin any more.
 */
final class RequestPermits {

    private enum Task {
        PENDING,
        STARTED,
        ENDED
    }

    private final PermitBundle permits;
    private final AtomicReference<Task> task = new AtomicReference<>(Task.PENDING);

    RequestPermits(PermitBundle permits) {
        this.permits = permits;
    }

    /** Unique, so that the callbacks of two limited methods of one request do not replace each other. */
    String name() {
        return RequestPermits.class.getName() + "." + UUID.randomUUID();
    }

    DeferredResultProcessingInterceptor ofDeferredResult() {
        return new DeferredResultProcessingInterceptor() {
            /** If an interceptor before this one throws later, Spring MVC calls no method of this one any more. */
            @Override
            public <T> void beforeConcurrentHandling(NativeWebRequest request, DeferredResult<T> result) {
                if (request instanceof AsyncWebRequest async) {
                    async.addCompletionHandler(permits::release);
                }
            }

            @Override
            public <T> void postProcess(
                    NativeWebRequest request, DeferredResult<T> result, @Nullable Object concurrentResult) {
                permits.release();
            }

            @Override
            public <T> void afterCompletion(NativeWebRequest request, DeferredResult<T> result) {
                permits.release();
            }
        };
    }

    CallableProcessingInterceptor ofTask() {
        return new CallableProcessingInterceptor() {
            @Override
            public <T> void preProcess(NativeWebRequest request, Callable<T> called) {
                if (!task.compareAndSet(Task.PENDING, Task.STARTED)) {
                    throw new IllegalStateException("The request ended before its task began; its permit is released");
                }
            }

            @Override
            public <T> void postProcess(
                    NativeWebRequest request, Callable<T> called, @Nullable Object concurrentResult) {
                permits.release();
            }

            @Override
            public <T> void afterCompletion(NativeWebRequest request, Callable<T> called) {
                if (task.compareAndSet(Task.PENDING, Task.ENDED)) {
                    permits.release();
                }
            }
        };
    }
}
