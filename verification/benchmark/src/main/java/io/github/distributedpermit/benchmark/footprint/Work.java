package io.github.distributedpermit.benchmark.footprint;

/** The service of both applications. It does nothing, so that only its advice is measured. */
public class Work {

    /** One call. */
    public void call() {
        // nothing
    }
}
