package io.github.distributedpermit.contract;

/** The contract of a store whose holdings live by leases on its own clock, not by sessions. */
public abstract class LeasedBackendContract extends PermitBackendContract implements LeaseLaws, LateClaimLaws {}
