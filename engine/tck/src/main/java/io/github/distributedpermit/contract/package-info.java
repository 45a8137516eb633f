/**
 * The contract of every backend: extend {@link io.github.distributedpermit.contract.PermitBackendContract}, or
 * {@link io.github.distributedpermit.contract.LeasedBackendContract} for a store without sessions, and supply a
 * {@link io.github.distributedpermit.contract.StoreFixture}; and once more as
 * {@link io.github.distributedpermit.contract.PermitBackendFaultContract} or
 * {@link io.github.distributedpermit.contract.LeasedBackendFaultContract}, behind a bad network.
 */
@NullMarked
package io.github.distributedpermit.contract;

import org.jspecify.annotations.NullMarked;
