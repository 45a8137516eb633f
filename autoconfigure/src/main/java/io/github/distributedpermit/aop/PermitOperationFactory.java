package io.github.distributedpermit.aop;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;

/** Reads annotations into operations, refusing what cannot work, and defines the permits. */
final class PermitOperationFactory {

    private final KeyExpressions keys = new KeyExpressions();
    private final AnnotationText texts;
    private final ObjectProvider<PermitCatalog> catalog;

    PermitOperationFactory(AnnotationText texts, ObjectProvider<PermitCatalog> catalog) {
        this.texts = texts;
        this.catalog = catalog;
    }

    List<PermitOperation> make(Method method, Class<?> type) {
        Method specific = AopUtils.getMostSpecificMethod(method, type);
        return PermitAnnotations.of(method, type).stream()
                .map(declared -> make(declared, specific, type))
                .toList();
    }

    private PermitOperation make(DeclaredPermit declared, Method method, Class<?> type) {
        String origin = declared.fullName();
        ProxyRules.check(method, type, origin);
        Optional<String> late = LateEnd.of(method, type);
        if (late.isPresent()) {
            throw new InvalidPermitException(
                    "%s: @DistributedPermit does not support %s in %s yet, because it %s"
                            .formatted(origin, DeclaredPermit.signature(method), type.getName(), late.get()),
                    "Hold the permit in code: take it with acquireAsync of the bean Permits and release it when the"
                            + " work has ended");
        }
        DistributedPermit annotation = declared.annotation();
        String key = key(declared, origin);
        KeyTemplate template = keys.parse(key, method, origin);
        Fallback fallback =
                annotation.fallback().isEmpty() ? null : Fallback.find(annotation.fallback(), method, type, origin);
        return new PermitOperation(define(declared, key, origin), template, fallback);
    }

    private String key(DeclaredPermit declared, String origin) {
        String text = declared.annotation().key();
        if (text.isEmpty()) {
            return origin;
        }
        String resolved = texts.resolve("key", text, origin);
        if (resolved.isBlank()) {
            throw new InvalidPermitException(
                    "%s: key '%s' of @DistributedPermit is blank".formatted(origin, text),
                    "Give the text that names what is limited, or leave it out");
        }
        return resolved;
    }

    private PermitDefinition define(DeclaredPermit declared, String key, String origin) {
        DistributedPermit annotation = declared.annotation();
        String literal = KeyExpressions.isLiteral(key) ? key : null;
        Integer limit = texts.limit(annotation, origin);
        int permits = texts.permits(annotation, limit, origin);
        PermitDefinition definition;
        try {
            definition = new PermitDefinition(
                    name(declared, literal, origin),
                    literal,
                    limit,
                    permits,
                    annotation.block(),
                    texts.timeout(annotation, origin),
                    origin);
            PermitCatalog permitCatalog = catalog.getIfAvailable();
            return permitCatalog == null ? definition : permitCatalog.define(definition);
        } catch (IllegalArgumentException e) {
            String problem = String.valueOf(e.getMessage());
            throw new InvalidPermitException(
                    problem.contains(origin) ? problem : origin + ": " + problem,
                    "Correct the annotation, or the settings under distributed-permit.permits",
                    e);
        }
    }

    private String name(DeclaredPermit declared, @Nullable String literal, String origin) {
        DistributedPermit annotation = declared.annotation();
        if (!annotation.name().isEmpty()) {
            return texts.resolve("name", annotation.name(), origin);
        }
        return annotation.key().isEmpty() || literal == null ? declared.shortName() : literal;
    }
}
