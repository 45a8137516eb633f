package io.github.distributedpermit.core.jfr;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

/** A call waited for a permit, from its arrival to its outcome. Shorter waits than 10 ms are recorded only if the recording asks for them. */
@Name("io.github.distributedpermit.PermitWait")
@Label("Permit Wait")
@Description("A call waited for a permit")
@Threshold("10 ms")
final class PermitWaitEvent extends PermitEvent {

    @Label("Outcome")
    @Description("granted, the reason of a rejection, failed or abandoned")
    @Nullable
    String outcome;
}
