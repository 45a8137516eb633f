package io.github.distributedpermit.core.jfr;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Threshold;

/** A call held a permit, from the grant to the release. Shorter holds than 10 ms are recorded only if the recording asks for them. */
@Name("io.github.distributedpermit.PermitHold")
@Label("Permit Hold")
@Description("A call held a permit")
@Threshold("10 ms")
final class PermitHoldEvent extends PermitEvent {}
