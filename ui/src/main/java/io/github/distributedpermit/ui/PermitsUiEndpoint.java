package io.github.distributedpermit.ui;

import io.github.distributedpermit.endpoint.PermitsEndpoint;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.util.MimeType;

/**
 * The actuator endpoint {@code permitsui}: a page that shows the permits live. It has the exposure, the address and the security
 * of all actuator endpoints. The page itself holds no data; its buttons call the endpoint {@code permits}. Thread-safe.
 */
@WebEndpoint(id = "permitsui")
public class PermitsUiEndpoint {

    private static final int NOT_FOUND = 404;
    private static final int UNAVAILABLE = 503;
    private static final MimeType TEXT = new MimeType("text", "plain", StandardCharsets.UTF_8);
    private static final Map<String, MimeType> FILES = Map.of(
            "app.css", new MimeType("text", "css", StandardCharsets.UTF_8),
            "app.js", new MimeType("text", "javascript", StandardCharsets.UTF_8));

    private final LiveStates states;
    private final EventStreams streams;

    PermitsUiEndpoint(PermitsEndpoint permits, EventStreams streams) {
        this.states = new LiveStates(permits, Clock.systemUTC());
        this.streams = streams;
    }

    /** The page. */
    @ReadOperation(produces = "text/html;charset=UTF-8")
    public String page() {
        return read("index.html");
    }

    /** The files of the page. */
    @ReadOperation(produces = {"text/css", "text/javascript", "text/plain"})
    public WebEndpointResponse<String> file(@Selector String file) {
        MimeType type = FILES.get(file);
        return type == null
                ? new WebEndpointResponse<>("There is no such file", NOT_FOUND, TEXT)
                : new WebEndpointResponse<>(read(file), WebEndpointResponse.STATUS_OK, type);
    }

    /** The names of all permits, as {@code names/all}. */
    @ReadOperation(produces = "application/json")
    public WebEndpointResponse<LiveState> names(@Selector String what, @Selector String which) {
        return what.equals("names") ? new WebEndpointResponse<>(states.names()) : new WebEndpointResponse<>(NOT_FOUND);
    }

    /** Server-sent events about one permit, as {@code events/<name>}. */
    @ReadOperation(produces = "text/event-stream")
    public Object events(@Selector String what, @Selector String which) {
        if (!what.equals("events")) {
            return new WebEndpointResponse<>(NOT_FOUND);
        }
        try {
            return streams.stream(() -> states.of(which));
        } catch (IllegalStateException e) {
            return new WebEndpointResponse<>(UNAVAILABLE);
        }
    }

    private static String read(String file) {
        try (InputStream in = PermitsUiEndpoint.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("The jar of distributed-permit-ui is incomplete: no " + file);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
