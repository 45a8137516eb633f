package io.github.distributedpermit.aop.mvc;

import io.github.distributedpermit.aop.async.HoldStrategy;
import io.github.distributedpermit.aop.async.LimitedCall;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/**
 * For methods that return a {@code StreamingResponseBody}, also within a {@code ResponseEntity}. The method itself runs at
 * once and without a permit. The thread that writes takes the permits, and holds them until it has written.
 */
public final class StreamingHold implements HoldStrategy {

    @Override
    public boolean endsWithinTheCaller() {
        return true;
    }

    @Override
    public @Nullable Object invoke(LimitedCall call) throws Throwable {
        Object returned = call.proceed();
        if (returned instanceof StreamingResponseBody body) {
            return new LimitedBody(call, body, null);
        }
        if (returned instanceof ResponseEntity<?> answer && answer.getBody() instanceof StreamingResponseBody body) {
            return new ResponseEntity<>(
                    new LimitedBody(call, body, response()), answer.getHeaders(), answer.getStatusCode());
        }
        return returned;
    }

    private static @Nullable HttpServletResponse response() {
        return RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes request
                ? request.getResponse()
                : null;
    }

    /**
     * Writes with permits.
     *
     * @param response to which Spring has given the headers of the answer by the time of writing; {@code null} if it has none
     */
    private record LimitedBody(
            LimitedCall call,
            StreamingResponseBody body,
            @Nullable HttpServletResponse response) implements StreamingResponseBody {

        @Override
        public void writeTo(OutputStream out) throws IOException {
            try {
                call.whileHolding(
                        held -> {
                            body.writeTo(out);
                            return null;
                        },
                        fallback -> {
                            removeLength();
                            write(fallback, out);
                            return null;
                        });
            } catch (IOException | RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }

        /** What is written instead has another length. */
        private void removeLength() {
            if (response != null && !response.isCommitted()) {
                response.setContentLengthLong(-1);
            }
        }

        private static void write(@Nullable Object fallback, OutputStream out) throws IOException {
            Object content = fallback instanceof ResponseEntity<?> answer ? answer.getBody() : fallback;
            if (content instanceof StreamingResponseBody instead) {
                instead.writeTo(out);
            }
        }
    }
}
