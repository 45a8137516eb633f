package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Answers for a bean {@code Permits} that returns null, as a mock does that has no answer, or the mock of a future, as one with deep
 * stubs does. The annotated method then runs, since
 * a test that mocks the permits wants them out of its way, and a warning says that it has no limit. Thread-safe.
 */
final class MockedPermits {

    private static final Log log = LogFactory.getLog(MockedPermits.class);

    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    /**
     * Whether this is no future that could ever end. A mock with deep stubs returns another mock where a future returns itself, and
     * it may be of the same class as a future.
     */
    static boolean isMissing(@Nullable CompletableFuture<Permit> call) {
        if (call == null) {
            return true;
        }
        CompletableFuture<Permit> itself = call.toCompletableFuture();
        return itself == null || itself.toCompletableFuture() != itself;
    }

    /** A permit in place of the missing one. */
    Permit instead(PermitOperation operation, PermitRequest request) {
        String name = operation.definition().name();
        if (warned.add(name)) {
            log.warn(
                    "The bean of type Permits returned no permit of '%s', as a mock does without an answer for it: %s runs without a limit"
                            .formatted(name, operation.definition().origin()));
        }
        return new UnlimitedPermit(name, request.key(), request.permits());
    }
}
