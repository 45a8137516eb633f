package io.github.distributedpermit.ui;

/** How a state is written to a stream. Thread-safe. */
@FunctionalInterface
interface StateFormat {

    /** For an application without the actuator's mapper: the web stack writes states as it writes other objects. */
    StateFormat OF_APPLICATION = state -> state;

    /** The state as a line of JSON in a {@link String}, or the state itself. */
    Object format(LiveState state);
}
