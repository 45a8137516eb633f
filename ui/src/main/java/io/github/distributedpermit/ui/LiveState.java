package io.github.distributedpermit.ui;

import io.github.distributedpermit.endpoint.PermitsView;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * What the page shows at one moment.
 *
 * @param now the clock of the instance, so that the page need not trust that of the browser
 * @param writable whether the endpoint {@code permits} accepts changes
 * @param names of all permits
 * @param events the last that this instance has seen, newest first
 * @param permit the one that is shown; {@code null} if none has the name
 */
public record LiveState(
        Instant now,
        boolean writable,
        List<String> names,
        List<PermitsView.Event> events,
        PermitsView.@Nullable Detail permit)
        implements OperationResponseBody {}
