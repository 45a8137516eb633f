package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * What the current thread holds by the annotation. A nested call of the same key takes a permit of its own; where the
 * thread itself holds all of them, the call waits for itself, and the log says so once per name.
 */
final class NestedCalls {

    private static final Log log = LogFactory.getLog(NestedCalls.class);

    private final ThreadLocal<List<Permit>> held = new ThreadLocal<>();
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    void entered(Permit permit) {
        List<Permit> all = held.get();
        if (all == null) {
            all = new ArrayList<>(2);
            held.set(all);
        }
        all.add(permit);
    }

    void left(Permit permit) {
        List<Permit> all = held.get();
        if (all != null && all.remove(permit) && all.isEmpty()) {
            held.remove();
        }
    }

    void warnIfBlockedByItself(PermitOperation operation, PermitRequest request) {
        List<Permit> all = held.get();
        Integer limit = operation.definition().limit();
        if (all == null || limit == null || !request.block()) {
            return;
        }
        int mine = all.stream()
                .filter(permit -> permit.key().equals(request.key()))
                .mapToInt(Permit::permits)
                .sum();
        String name = operation.definition().name();
        if (mine > 0 && mine + request.permits() > limit && warned.add(name)) {
            log.warn(
                    "A call limited by '%s' (%s) is nested in one of the same key and thread that holds %d of %d permits:"
                                    .formatted(name, operation.definition().origin(), mine, limit)
                            + " it waits for itself. Limit only the outer method, give them different keys, or raise the limit");
        }
    }
}
