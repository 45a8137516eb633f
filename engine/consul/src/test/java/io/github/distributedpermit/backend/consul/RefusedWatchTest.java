package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulFront;
import io.github.distributedpermit.consulserver.SharedConsul;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

class RefusedWatchTest {

    @Test
    void watchThatConsulRefusesIsLoggedOnce() {
        Logger logger = Logger.getLogger(Inbox.class.getName());
        Lines lines = new Lines();
        logger.addHandler(lines);
        try (ConsulFront front = new ConsulFront(SharedConsul.get().address());
                Bench bench = new Bench(front.address(), SharedConsul.get().probe())) {
            front.answer("/.inbox/", 403, "Permission denied");
            TestMember a = bench.member();
            a.queue("refused", 1, 1);

            await().until(() -> front.requests().stream()
                            .filter(request -> request.contains("/.inbox/"))
                            .count()
                    >= 4);

            assertThat(lines.warnings)
                    .filteredOn(warning -> warning.contains(bench.prefix())) // other tests make some as well
                    .singleElement()
                    .asString()
                    .contains("/.inbox/")
                    .contains("403")
                    .contains("re-check");
            front.behave();
        } finally {
            logger.removeHandler(lines);
        }
    }

    private static final class Lines extends Handler {

        final List<String> warnings = new CopyOnWriteArrayList<>();

        @Override
        public void publish(LogRecord line) {
            if (line.getLevel().intValue() >= Level.WARNING.intValue()) {
                warnings.add(line.getMessage());
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
