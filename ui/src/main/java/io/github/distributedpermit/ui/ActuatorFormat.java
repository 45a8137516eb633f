package io.github.distributedpermit.ui;

import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes states as the actuator writes the answers of endpoints, so that the application's own settings of Jackson do not change
 * what the page reads. Web stacks choose the actuator's mapper by the media type, which is another one for a stream. Thread-safe.
 */
final class ActuatorFormat implements StateFormat {

    private final ObjectWriter writer;

    ActuatorFormat(JsonMapper mapper) {
        // an event with several lines would need several fields
        this.writer = mapper.writer().without(SerializationFeature.INDENT_OUTPUT);
    }

    @Override
    public String format(LiveState state) {
        return writer.writeValueAsString(state);
    }
}
