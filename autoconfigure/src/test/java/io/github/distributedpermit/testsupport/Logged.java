package io.github.distributedpermit.backend.redis;

import static io.github.distributedpermit.backend.redis.TestMember.PATIENCE;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** The warnings that a class logs. */
final class Logged extends Handler implements AutoCloseable {

    private final Logger logger;
    private final List<String> texts = new CopyOnWriteArrayList<>();

    Logged(Class<?> by) {
        logger = Logger.getLogger(by.getName());
        logger.addHandler(this);
    }

    List<String> texts() {
        return texts;
    }

    void awaitText(String... parts) {
        await().atMost(PATIENCE)
                .until(() ->
                        texts.stream().anyMatch(text -> List.of(parts).stream().allMatch(text::contains)));
    }

    @Override
    public void publish(LogRecord entry) {
        if (entry.getLevel().intValue() >= Level.WARNING.intValue()) {
            texts.add(new SimpleFormatter().formatMessage(entry));
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
    }
}
