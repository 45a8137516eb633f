package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.engine.PermitEngine;
import java.util.Optional;

/** A task that runs repeatedly as long as the engine does. */
interface WatchTask {

    /** The task for this engine; empty if there is nothing to do. */
    Optional<RepeatedTasks.Task> task(PermitEngine engine);
}
