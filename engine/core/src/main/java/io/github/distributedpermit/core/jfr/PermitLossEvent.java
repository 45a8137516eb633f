package io.github.distributedpermit.core.jfr;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** A call lost the permit that it held. */
@Name("io.github.distributedpermit.PermitLoss")
@Label("Permit Loss")
@Description("A call lost the permit that it held")
final class PermitLossEvent extends PermitEvent {}
