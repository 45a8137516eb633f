package io.github.distributedpermit.patience;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Raises the default time-out of Awaitility before the first test of a JVM. A correct server can take longer than the usual ten
 * seconds when other processes use all processors; a test that succeeds waits no longer than before. JUnit finds this class in
 * each module that has the test servers on its class path. Stateless.
 */
public final class PatientTests implements LauncherSessionListener {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        Awaitility.setDefaultTimeout(PATIENCE);
    }
}
