package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One permit that a call takes.
 *
 * @param operation what to do for it
 * @param request what the call asks for
 */
record PlannedPermit(PermitOperation operation, PermitRequest request) {

    /**
     * The permits of a call in the order to take them: one for each key, sorted by key, which is the same order in all methods
     * and processes, so that no two calls wait for each other.
     */
    static Collection<PlannedPermit> of(LimitedMethod limited, Object target, @Nullable Object[] arguments) {
        List<PermitOperation> operations = limited.operations();
        if (operations.size() == 1) {
            return List.of(of(operations.get(0), limited, target, arguments));
        }
        TreeMap<String, PlannedPermit> byKey = new TreeMap<>();
        for (PermitOperation operation : operations) {
            PlannedPermit planned = of(operation, limited, target, arguments);
            byKey.merge(planned.request.key(), planned, PlannedPermit::and);
        }
        return new ArrayList<>(byKey.values());
    }

    private static PlannedPermit of(
            PermitOperation operation, LimitedMethod limited, Object target, @Nullable Object[] arguments) {
        return new PlannedPermit(operation, operation.request(target, limited.method(), arguments));
    }

    /** One for both, which have the same key. */
    private PlannedPermit and(PlannedPermit other) {
        PermitRequest both = request.and(other.request);
        Integer limit = operation.definition().limit();
        if (limit != null && both.permits() > limit) {
            throw new IllegalArgumentException(
                    ("%s: permits '%s' and '%s' have the same key in this call and ask for %d permits together, but the limit"
                                    + " is %d. Set reentrant = true on one of them to take the larger number only, or raise"
                                    + " the limit")
                            .formatted(
                                    operation.definition().origin(),
                                    operation.definition().name(),
                                    other.operation.definition().name(),
                                    both.permits(),
                                    limit));
        }
        return new PlannedPermit(operation.and(other.operation), both);
    }
}
