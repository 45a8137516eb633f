package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitContext;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRequest;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * What the current thread holds by the annotation. A nested call of the same key takes a permit of its own; where the
 * thread itself holds so many that too few are left, and the call cannot join one of them, the call waits for itself, and
 * the log says so once per name.
 */
final class NestedCalls {

    private static final Log log = LogFactory.getLog(NestedCalls.class);

    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    void warnIfBlockedByItself(PermitDefinition definition, PermitRequest request, String consequence) {
        int mine = PermitContext.permitsOf(request.key());
        Integer limit = definition.limit();
        if (mine == 0
                || limit == null
                || !request.block()
                || (request.reentrant() && PermitContext.join(request) != null)) {
            return;
        }
        String name = definition.name();
        if (mine + request.permits() > limit && warned.add(name)) {
            log.warn(
                    "A call limited by '%s' (%s) is nested in one of the same key and thread that holds %d of %d permits:"
                                    .formatted(name, definition.origin(), mine, limit)
                            + " " + consequence
                            + ". Limit only the outer method, give them different keys, or raise the limit");
        }
    }
}
