package io.github.distributedpermit.benchmark.footprint;

import io.github.distributedpermit.DistributedPermit;

/** The same with a limit. */
public class LimitedWork extends Work {

    @Override
    @DistributedPermit(key = "footprint", limit = 10)
    public void call() {
        super.call();
    }
}
