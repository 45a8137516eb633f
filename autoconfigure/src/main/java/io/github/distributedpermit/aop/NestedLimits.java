package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Refuses permits that lie within each other in a way that cannot work, see {@link
 * io.github.distributedpermit.DistributedPermit#within}. Stateless.
 */
final class NestedLimits {

    private static final String REMEDY = "Correct 'within' of @DistributedPermit, or under distributed-permit.permits";

    private final PermitCatalog catalog;
    private final Collection<LimitedMethod> methods;

    /** @param methods those known so far */
    NestedLimits(PermitCatalog catalog, Collection<LimitedMethod> methods) {
        this.catalog = catalog;
        this.methods = methods;
    }

    /** Checks all names that are known, and all methods. */
    void check() {
        // as they are, since a look-up of a name counts as its use
        catalog.definitions().forEach(definition -> chain(definition, definition.within()));
        methods.forEach(this::check);
    }

    /** Checks a method. */
    void check(LimitedMethod method) {
        for (PermitOperation operation : method.operations()) {
            PermitDefinition innermost = operation.definition();
            List<PermitDefinition> chain = chain(innermost, outerOf(innermost));
            for (PermitDefinition outer : chain.subList(1, chain.size())) {
                checkOuter(method, operation, outer, chain);
            }
            checkNamesOfKey(operation);
        }
    }

    private void checkOuter(
            LimitedMethod method, PermitOperation operation, PermitDefinition outer, List<PermitDefinition> chain) {
        boolean stated = method.operations().stream()
                .anyMatch(other -> other.definition().name().equals(outer.name()));
        if (stated) {
            return;
        }
        long keys = methods.stream()
                .flatMap(each -> each.operations().stream())
                .filter(each -> each.definition().name().equals(outer.name()))
                .map(each -> String.valueOf(each.definition().key()))
                .distinct()
                .count();
        if (outer.isLimitedPerCall()) {
            throw new InvalidPermitException(
                    "%s: permit '%s' lies within '%s', whose limit each call states, and the method does not say which one (%s)"
                            .formatted(method.description(), chain.get(0).name(), outer.name(), show(chain)),
                    "Annotate the method with '%s' and its limit too".formatted(outer.name()));
        }
        if (outer.usualKey() == null || keys > 1) {
            throw new InvalidPermitException(
                    "%s: permit '%s' lies within '%s', which has many keys, and the method does not say which one (%s)"
                            .formatted(method.description(), chain.get(0).name(), outer.name(), show(chain)),
                    "Annotate the method with a key of '%s' too".formatted(outer.name()));
        }
        int permits = operation.definition().permits();
        Integer limit = outer.limit();
        if (limit != null && permits > limit) {
            throw new InvalidPermitException(
                    "%s: one call takes %d permits of '%s' and as many of '%s', whose limit is %d (%s)"
                            .formatted(
                                    method.description(),
                                    permits,
                                    chain.get(0).name(),
                                    outer.name(),
                                    limit,
                                    show(chain)),
                    "Let the method take fewer permits, or raise the limit of '%s'".formatted(outer.name()));
        }
    }

    /** Calls of a key that count in an outer permit under one name only would pass it under the other. */
    private void checkNamesOfKey(PermitOperation operation) {
        String key = operation.definition().key();
        if (key == null) {
            return;
        }
        Map<String, @Nullable String> outerByName = new HashMap<>();
        methods.stream()
                .flatMap(each -> each.operations().stream())
                .filter(each -> key.equals(each.definition().key()))
                .forEach(each -> outerByName.put(each.definition().name(), outerOf(each.definition())));
        String outer = outerOf(operation.definition());
        outerByName.forEach((name, other) -> {
            if (!Objects.equals(outer, other)) {
                throw new InvalidPermitException(
                        "%s: key '%s' lies within %s under the name '%s', and within %s under the name '%s'"
                                .formatted(
                                        operation.definition().origin(),
                                        key,
                                        outer == null ? "no other permit" : "'" + outer + "'",
                                        operation.definition().name(),
                                        other == null ? "no other permit" : "'" + other + "'",
                                        name),
                        REMEDY);
            }
        });
    }

    /** An operation that was made before another declaration of its name does not know what that one says. */
    private @Nullable String outerOf(PermitDefinition definition) {
        return catalog.find(definition.name()).orElse(definition).within();
    }

    /** The permit and those that it lies within, from the inside out. */
    private List<PermitDefinition> chain(PermitDefinition innermost, @Nullable String around) {
        List<PermitDefinition> chain = new ArrayList<>(List.of(innermost));
        for (String next = around; next != null; ) {
            String name = next;
            boolean circle = chain.stream().anyMatch(each -> each.name().equals(name));
            PermitDefinition outer = catalog.find(name).orElse(null);
            if (circle || outer == null || chain.size() == PermitDefinition.LONGEST_CHAIN) {
                String problem = circle
                        ? "Permits lie within each other in a circle"
                        : outer == null
                                ? "Permit '%s' lies within '%s', but no permit has that name"
                                        .formatted(chain.get(chain.size() - 1).name(), name)
                                : "More than %d permits lie within each other"
                                        .formatted(PermitDefinition.LONGEST_CHAIN);
                throw new InvalidPermitException(
                        "%s: %s within %s".formatted(problem, show(chain), name),
                        outer == null ? REMEDY + ", or give '%s' a limit".formatted(name) : REMEDY);
            }
            chain.add(outer);
            next = outer.within();
        }
        return chain;
    }

    private static String show(List<PermitDefinition> chain) {
        return chain.stream().map(PermitDefinition::name).collect(Collectors.joining(" within "));
    }
}
