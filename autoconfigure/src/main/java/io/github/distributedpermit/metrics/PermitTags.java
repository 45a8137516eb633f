package io.github.distributedpermit.metrics;

import io.micrometer.core.instrument.Tag;

/**
 * Further tags for the meters of a permit, such as its team. A bean of this type is asked once for each name, when the meters
 * of the name are registered, so the number of meters does not grow with keys. Prometheus needs the same tag keys for all
 * names. An exception leaves the name without further tags.
 */
@FunctionalInterface
public interface PermitTags {

    /**
     * The tags of a name besides {@code name}.
     *
     * @param name of the permit, as in settings
     */
    Iterable<Tag> tags(String name);
}
