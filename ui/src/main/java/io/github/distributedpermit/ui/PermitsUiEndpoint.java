package io.github.distributedpermit.ui;

import io.github.distributedpermit.endpoint.PermitsEndpoint;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Map;
import org.jspecify.annotations.Nullable;
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
    private static final String LIST = "list";
    private static final String PERMIT = "permit";
    private static final MimeType JSON = new MimeType("application", "json");
    private static final MimeType TEXT = new MimeType("text", "plain", StandardCharsets.UTF_8);
    private static final Map<String, MimeType> FILES = Map.of(
            "app.css", new MimeType("text", "css", StandardCharsets.UTF_8),
            "app.js", new MimeType("text", "javascript", StandardCharsets.UTF_8));

    private final LiveStates states;

    PermitsUiEndpoint(PermitsEndpoint permits, LiveState.Settings settings) {
        this.states = new LiveStates(permits, settings, Clock.systemUTC(), System::nanoTime);
    }

    /** The page. */
    @ReadOperation(produces = "text/html;charset=UTF-8")
    public String page() {
        return read("index.html");
    }

    /**
     * The files of the page; {@code list}: some of the permits whose names contain the filter, from that one on; and {@code permit}: that
     * of this name, with a key only that one. Names are in the query, because not each can be part of a path.
     */
    @ReadOperation(produces = {"text/css", "text/javascript", "application/json", "text/plain"})
    public WebEndpointResponse<Object> file(
            @Selector String file,
            @Nullable String filter,
            @Nullable Integer from,
            @Nullable String name,
            @Nullable String key) {
        if (file.equals(LIST)) {
            LiveState list = states.list(filter == null ? "" : filter, from == null ? 0 : from);
            return new WebEndpointResponse<>(list, WebEndpointResponse.STATUS_OK, JSON);
        }
        if (file.equals(PERMIT) && name != null) {
            return new WebEndpointResponse<>(states.of(name, key), WebEndpointResponse.STATUS_OK, JSON);
        }
        MimeType type = FILES.get(file);
        return type == null
                ? new WebEndpointResponse<>("There is no such file", NOT_FOUND, TEXT)
                : new WebEndpointResponse<>(read(file), WebEndpointResponse.STATUS_OK, type);
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
