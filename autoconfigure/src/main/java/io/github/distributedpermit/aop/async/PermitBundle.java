package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitContext;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** The permits of one call, released together and once. Thread-safe. */
public final class PermitBundle {

    private static final Log log = LogFactory.getLog(PermitBundle.class);

    /** {@code null} once they are released. */
    private @Nullable List<Permit> permits = new ArrayList<>(2);

    /** Takes charge of a permit. Of a bundle that was released before, the permit is released at once. */
    public boolean add(Permit permit) {
        synchronized (this) {
            if (permits != null) {
                permits.add(permit);
                return true;
            }
        }
        release(permit);
        return false;
    }

    /** Binds them to the current thread until the scope is closed; of a bundle that was released there is nothing to bind. */
    PermitContext.Scope bind() {
        PermitContext.Scope scope = PermitContext.open();
        synchronized (this) {
            if (permits != null) {
                permits.forEach(scope::add);
            }
        }
        return scope;
    }

    /** Releases all, the last one first. Never throws, and has no effect the second time. */
    public void release() {
        List<Permit> due;
        synchronized (this) {
            due = permits;
            permits = null;
        }
        if (due != null) {
            for (int i = due.size() - 1; i >= 0; i--) {
                release(due.get(i));
            }
        }
    }

    private static void release(Permit permit) {
        try {
            permit.close();
        } catch (RuntimeException | Error e) {
            log.error("Permit '" + permit.name() + "' could not be released; it expires with its lease", e);
        }
    }
}
