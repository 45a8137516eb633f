package io.github.distributedpermit.test;

import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Has each test method see its own calls only, as contexts are shared between them. */
final class PermitRecordListener implements TestExecutionListener {

    @Override
    public void beforeTestMethod(TestContext test) {
        if (test.hasApplicationContext()) {
            ApplicationContext context = test.getApplicationContext();
            context.getBeanProvider(RecordingPermits.class)
                    .ifAvailable(permits -> permits.log().clear());
        }
    }
}
