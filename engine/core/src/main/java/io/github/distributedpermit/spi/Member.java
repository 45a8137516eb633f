package io.github.distributedpermit.spi;

import java.util.Objects;

/**
 * One running application instance.
 *
 * @param id random, new at every start, of letters, digits, {@code -} and {@code _} only
 * @param name for people, such as {@code app@host:pid}
 */
public record Member(String id, String name) {

    /** Checks the values. */
    public Member {
        Objects.requireNonNull(name, "name");
        if (!id.matches("[A-Za-z0-9_-]{1,64}")) {
            throw new IllegalArgumentException(
                    "A member's id is 1 to 64 letters, digits, '-' and '_', not '" + id + "'");
        }
    }
}
