package io.github.distributedpermit.contract;

/** {@link LeasedBackendContract} behind a bad network. */
public abstract class LeasedBackendFaultContract extends PermitBackendFaultContract
        implements LeaseLaws, LateClaimLaws {}
