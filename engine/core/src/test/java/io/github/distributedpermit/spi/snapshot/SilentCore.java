package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;

/** Ignores all notifications: where only answers matter, or one thing that a test adds. */
public class SilentCore implements HoldingListener {

    @Override
    public void granted(String key, Holding holding) {}

    @Override
    public void changed(String key) {}

    @Override
    public void alive(long sentAtNanos) {}

    @Override
    public void lost() {}
}
