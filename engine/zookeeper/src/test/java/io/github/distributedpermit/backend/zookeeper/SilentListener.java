package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;

/** Where only answers matter, or one thing that a test adds. */
class SilentListener implements HoldingListener {

    @Override
    public void granted(String key, Holding holding) {}

    @Override
    public void changed(String key) {}

    @Override
    public void alive(long sentAtNanos) {}

    @Override
    public void lost() {}
}
