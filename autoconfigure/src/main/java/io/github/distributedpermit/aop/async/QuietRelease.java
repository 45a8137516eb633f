package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.Permit;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** Releases permits and never throws, so that what a method returned or threw reaches its caller. */
public final class QuietRelease {

    private static final Log log = LogFactory.getLog(QuietRelease.class);

    private QuietRelease() {}

    /** Releases the permit. */
    public static void of(Permit permit) {
        try {
            permit.close();
        } catch (RuntimeException | Error e) {
            log.error(
                    "The release of permit '" + permit.name()
                            + "' ended with an error. The permit does not stay in use:"
                            + " the library restores the count of its key within seconds and returns it to the store",
                    e);
        }
    }
}
