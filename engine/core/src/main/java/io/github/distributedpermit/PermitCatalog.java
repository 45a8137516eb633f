package io.github.distributedpermit;

import java.util.Collection;
import java.util.Optional;

/** The permits this application declares, with the settings already merged over them. Thread-safe. */
public interface PermitCatalog {

    /**
     * Adds a declaration and answers it as it takes effect: the settings of its name win over what it says.
     *
     * @throws IllegalArgumentException if neither it nor the settings give a limit, or if it contradicts the limit of an
     *     earlier declaration of the same name or the same literal key
     */
    PermitDefinition define(PermitDefinition declared);

    /** The effective definition of a name, from a declaration or from the settings alone. */
    Optional<PermitDefinition> find(String name);

    /** All effective definitions, in no particular order. */
    Collection<PermitDefinition> definitions();
}
