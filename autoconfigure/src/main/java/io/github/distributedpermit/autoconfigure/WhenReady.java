package io.github.distributedpermit.autoconfigure;

import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;

/** Runs a check once, when the application is ready. */
final class WhenReady implements ApplicationListener<ApplicationReadyEvent> {

    private final Runnable check;
    private final AtomicBoolean done = new AtomicBoolean();

    WhenReady(Runnable check) {
        this.check = check;
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        if (done.compareAndSet(false, true)) {
            check.run();
        }
    }

    @Override
    public boolean supportsAsyncExecution() {
        return false;
    }
}
