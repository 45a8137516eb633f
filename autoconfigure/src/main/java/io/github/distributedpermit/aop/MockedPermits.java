package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Answers for a bean {@code Permits} that returns null, as a mock does that has no answer. The annotated method then runs, since
 * a test that mocks the permits wants them out of its way, and a warning says that it has no limit. Thread-safe.
 */
final class MockedPermits {

    private static final Log log = LogFactory.getLog(MockedPermits.class);

    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    /** A permit in place of the missing one. */
    Permit instead(PermitOperation operation, PermitRequest request) {
        String name = operation.definition().name();
        if (warned.add(name)) {
            log.warn(
                    "The bean of type Permits returned null instead of a permit of '%s', as a mock does without an answer for it: %s runs without a limit"
                            .formatted(name, operation.definition().origin()));
        }
        return new UnlimitedPermit(name, request.key(), request.permits());
    }
}
