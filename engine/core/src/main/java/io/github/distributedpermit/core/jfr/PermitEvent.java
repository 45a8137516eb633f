package io.github.distributedpermit.core.jfr;

import io.github.distributedpermit.spi.PermitCall;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** What all events of permits have. Confined to one thread at a time. */
@Category("Distributed Permit")
@StackTrace(false)
abstract class PermitEvent extends Event {

    @Label("Permit")
    @Description("The name of the permit, as in settings")
    @Nullable
    String permit;

    @Label("Key")
    @Nullable
    String key;

    @Label("Permits")
    int permits;

    final void commit(PermitCall call) {
        permit = call.name();
        key = call.key();
        permits = call.permits();
        commit();
    }
}
