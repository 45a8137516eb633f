package io.github.distributedpermit.contract;

/**
 * The laws of {@link io.github.distributedpermit.spi.PermitStore}, as every backend keeps them. After each test the
 * store is inspected from outside.
 */
public abstract class PermitBackendContract extends OpenedStore
        implements GrantLaws, QueueLaws, LimitLaws, OverrideLaws, WeightLaws, KeyLaws {}
