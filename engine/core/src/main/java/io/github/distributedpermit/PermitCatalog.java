package io.github.distributedpermit;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The permits this application declares, with the settings already merged over them. Thread-safe. */
public interface PermitCatalog {

    /**
     * Adds a declaration and answers it as it takes effect: the settings of its name win over what it says. It is kept until
     * the application ends, and its name has meters of its own, so names that are made from data are not declared but have
     * their settings from a pattern.
     *
     * @throws IllegalArgumentException if neither it nor the settings give a limit, or if it contradicts the limit of an
     *     earlier declaration of the same name or the same literal key
     */
    PermitDefinition define(PermitDefinition declared);

    /** The effective definition of a name, from a declaration or from the settings alone. */
    Optional<PermitDefinition> find(String name);

    /**
     * Changes limits while the application runs, all of them or, if one of them is not possible, none. A raised limit serves
     * waiting calls at once. With a lowered one running calls keep their permits, and no call gets one until few enough are
     * in use. The new limits win over annotations and settings, also over settings that change later, until they are taken
     * back.
     *
     * <p>They apply to this instance only. Each claim is judged by the limit that it states, so other instances have to be
     * given the same limits.
     *
     * @param limits by the name of a permit, or by a pattern of names such as {@code tenant-*}: 1 to
     *     {@value PermitDefinition#MAX_LIMIT}, {@link PermitDefinition#UNLIMITED}, or {@code null} to take back what an
     *     earlier call has set
     * @throws IllegalArgumentException if a limit is out of range or contradicts another one; nothing has changed then
     */
    void changeLimits(Map<String, @Nullable Integer> limits);

    /** All effective definitions, in no particular order. */
    Collection<PermitDefinition> definitions();
}
