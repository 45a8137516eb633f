package io.github.distributedpermit.aop;

import java.util.concurrent.atomic.AtomicInteger;

/** Permits whose return fails, against their contract. */
final class BrokenPermits extends RecordingPermits {

    final AtomicInteger released = new AtomicInteger();

    @Override
    void onRelease(String key) {
        released.incrementAndGet();
        throw new IllegalStateException("release is broken");
    }
}
