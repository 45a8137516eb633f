package io.github.distributedpermit.testsupport;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** The warnings that a class logs. */
public final class Logged extends Handler implements AutoCloseable {

    private final Logger logger;
    private final Level least;
    private final List<String> texts = new CopyOnWriteArrayList<>();

    public Logged(Class<?> by) {
        this(by.getName());
    }

    /** What the class of this name logs, which the test cannot see. */
    public Logged(String by) {
        this(by, Level.WARNING);
    }

    /** From this level on, as far as the logger passes it on. */
    public Logged(String by, Level least) {
        this.least = least;
        logger = Logger.getLogger(by);
        logger.addHandler(this);
    }

    public List<String> texts() {
        return texts;
    }

    public void awaitText(String... parts) {
        await().atMost(Duration.ofSeconds(60))
                .until(() ->
                        texts.stream().anyMatch(text -> List.of(parts).stream().allMatch(text::contains)));
    }

    @Override
    public void publish(LogRecord entry) {
        if (entry.getLevel().intValue() >= least.intValue()) {
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
