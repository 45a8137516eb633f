package io.github.distributedpermit;

/**
 * A key as the store had it when it was asked. Other instances change it at any moment, so it is for people and for
 * decisions that may be wrong; {@link NamedPermits#tryAcquire(String)} is the way to take a permit only if one is free.
 *
 * @param limit the limit in effect: the operator's if one is set, else that of the permit's name, or the highest that an instance states
 *     now if each call states its own
 * @param inUse how many permits the instances hold, including those that one keeps for its next call
 * @param waiting how many calls of all instances wait, as each instance last stated
 */
public record PermitState(int limit, int inUse, int waiting) {

    /** How many permits are free; none while others wait. */
    public int available() {
        return waiting > 0 ? 0 : Math.max(0, limit - inUse);
    }
}
