package io.github.distributedpermit.ui;

import java.util.function.Supplier;
import org.springframework.context.SmartLifecycle;

/**
 * Makes the response that sends server-sent events, in the form that the web stack of the application knows. All streams end
 * in the default phase of a life cycle, which is before the graceful stop of the web server: that would wait for them. Streams
 * run from the construction on, because the web server starts before this phase. Thread-safe.
 */
interface EventStreams extends SmartLifecycle {

    /** How often a page is sent the state. */
    long PERIOD_MILLIS = 1_000;

    /** Streams of one instance at a time; each takes a connection, and most of them look into the store. */
    int MOST = 50;

    /** A stream ends after this time; the page connects again, and shows by it that it may still do so. */
    long LIFE_MILLIS = 300_000;

    /**
     * A response that sends what the supplier says, at once and then once per period.
     *
     * @throws IllegalStateException if there are too many streams, or if the instance stops
     */
    Object stream(Supplier<LiveState> states);

    /** The web server goes on in a pause of the context. */
    @Override
    default boolean isPauseable() {
        return false;
    }
}
