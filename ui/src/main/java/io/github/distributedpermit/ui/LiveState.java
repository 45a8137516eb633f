package io.github.distributedpermit.ui;

import io.github.distributedpermit.endpoint.PermitsView;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * What the page shows at one moment: a part of the list of all permits, or one permit.
 *
 * @param now the clock of the instance, so that the page need not trust that of the browser
 * @param settings of the page
 * @param store where the permits are
 * @param instance the instance that answers
 * @param events the last that this instance has seen, newest first
 * @param list the part of the list; {@code null} if one permit is shown
 * @param permit the one that is shown; {@code null} if none has the name
 */
public record LiveState(
        Instant now,
        Settings settings,
        PermitsView.@Nullable Store store,
        PermitsView.@Nullable Instance instance,
        List<PermitsView.Event> events,
        @Nullable Page list,
        PermitsView.@Nullable Detail permit)
        implements OperationResponseBody {

    /**
     * What the application has set for the page.
     *
     * @param writable whether the endpoint {@code permits} accepts changes
     * @param traceLink the address of a trace, with <code>{traceId}</code> in it; empty for none
     * @param instanceLink the address of an instance's page, with <code>{host}</code> or <code>{instance}</code> in it; empty for none
     */
    public record Settings(boolean writable, String traceLink, String instanceLink) {}

    /**
     * A part of the list.
     *
     * @param application that all calls of can be paused
     * @param permits the fullest first
     * @param from the place of the first of them, from 0 on
     * @param all how many permits have a name with the text that was asked for
     * @param truncated whether there are more, which are found with another text
     * @param problem why the store did not answer for each permit
     * @param shortestLeases of each member, over all keys that were read
     */
    public record Page(
            @Nullable String application,
            List<PermitsView.Summary> permits,
            int from,
            int all,
            boolean truncated,
            @Nullable String problem,
            List<PermitsView.Lease> shortestLeases) {}
}
