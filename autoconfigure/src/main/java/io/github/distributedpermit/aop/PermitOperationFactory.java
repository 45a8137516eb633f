package io.github.distributedpermit.aop;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.OnLoss;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.aop.async.MinimumHolds;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.ParameterNameDiscoverer;

/** Reads annotations into operations, refusing what cannot work, and defines the permits. */
final class PermitOperationFactory {

    private final KeyExpressions keys = new KeyExpressions();
    private final AnnotationReader annotations;
    private final ObjectProvider<PermitCatalog> catalog;
    private final BeanFactory beans;
    private final MinimumHolds minimumHolds;

    PermitOperationFactory(
            AnnotationReader annotations,
            ObjectProvider<PermitCatalog> catalog,
            BeanFactory beans,
            MinimumHolds minimumHolds) {
        this.annotations = annotations;
        this.catalog = catalog;
        this.beans = beans;
        this.minimumHolds = minimumHolds;
    }

    List<PermitOperation> make(Method method, Class<?> type) {
        Method specific = AopUtils.getMostSpecificMethod(method, type);
        return PermitAnnotations.of(method, type).stream()
                .map(declared -> make(declared, specific, type))
                .toList();
    }

    private PermitOperation make(DeclaredPermit declared, Method method, Class<?> type) {
        String origin = declared.fullName();
        ProxyRules.check(declared, method, type);
        DistributedPermit annotation = declared.annotation();
        String key = annotations.key(declared);
        ParameterNameDiscoverer names = ParameterNames.of(declared.method(), method, type);
        KeyTemplate template = keys.parse(key, method, names, origin);
        PermitDefinition read = read(declared, key, origin);
        PermitDefinition definition = define(read, origin);
        RejectedAnswer answer = answer(annotation.fallback(), definition, method, type, origin);
        return new PermitOperation(
                definition,
                read,
                template,
                callAttributes(declared, method, names),
                answer,
                annotation.reentrant(),
                annotation.onLoss() == OnLoss.INTERRUPT,
                minimumHolds,
                type.getName() + "." + method.getName());
    }

    private @Nullable CallAttributes callAttributes(
            DeclaredPermit declared, Method method, ParameterNameDiscoverer names) {
        DistributedPermit annotation = declared.annotation();
        KeyTemplate headStart = ofEachCall(declared, "headStart", annotation.headStart(), method, names);
        KeyTemplate limit = ofEachCall(declared, "limitString", annotation.limitString(), method, names);
        KeyTemplate fairBy = group(declared, "fairBy", annotation.fairBy(), method, names);
        KeyTemplate fairWeight = group(declared, "fairWeight", annotation.fairWeight(), method, names);
        if (fairWeight != null && fairBy == null) {
            throw new InvalidPermitException(
                    "%s: fairWeight '%s' of @DistributedPermit has no meaning without fairBy"
                            .formatted(declared.fullName(), annotation.fairWeight()),
                    "Say by fairBy what a group is, or leave out fairWeight");
        }
        return headStart == null && limit == null && fairBy == null
                ? null
                : new CallAttributes(headStart, limit, fairBy, fairWeight, declared.fullName());
    }

    /** The same for an attribute that methods of one key may also have as a text; {@code null} if it is not given. */
    private @Nullable KeyTemplate group(
            DeclaredPermit declared, String attribute, String text, Method method, ParameterNameDiscoverer names) {
        if (text.isEmpty() || !KeyTemplate.isLiteral(text)) {
            return ofEachCall(declared, attribute, text, method, names);
        }
        String resolved = annotations.resolve(attribute, text, declared.fullName());
        return (target, called, arguments) -> resolved;
    }

    /** Makes the attribute of each call; {@code null} if it is the same for all. */
    private @Nullable KeyTemplate ofEachCall(
            DeclaredPermit declared, String attribute, String text, Method method, ParameterNameDiscoverer names) {
        String origin = declared.fullName();
        return KeyTemplate.isLiteral(text)
                ? null
                : keys.parse(attribute, annotations.resolve(attribute, text, origin), method, names, origin);
    }

    private @Nullable RejectedAnswer answer(
            String fallback, PermitDefinition definition, Method method, Class<?> type, String origin) {
        if (fallback.isEmpty()) {
            return SkippedCall.of(definition, method);
        }
        return BeanFallback.isMeant(fallback)
                ? BeanFallback.find(fallback, method, beans, origin)
                : Fallback.find(fallback, fallback, method, type, origin);
    }

    /** The same operation under the present settings. */
    PermitOperation renew(PermitOperation operation, Method method) {
        PermitDefinition definition =
                define(operation.declared(), operation.declared().origin());
        return operation.with(definition, rejectedAnswer(operation, definition, method));
    }

    /**
     * What answers rejected calls of the operation under this definition.
     *
     * @throws InvalidPermitException if calls are to be skipped that cannot be
     */
    static @Nullable RejectedAnswer rejectedAnswer(
            PermitOperation operation, PermitDefinition definition, Method method) {
        RejectedAnswer answer = operation.answer();
        boolean fallback = answer != null && !(answer instanceof SkippedCall);
        return fallback ? answer : SkippedCall.of(definition, method);
    }

    /** The checks of permits that lie within each other; empty if the application limits nothing. */
    Optional<NestedLimits> nestedLimits(Collection<LimitedMethod> methods) {
        return Optional.ofNullable(catalog.getIfAvailable()).map(known -> new NestedLimits(known, methods));
    }

    private PermitDefinition read(DeclaredPermit declared, String key, String origin) {
        try {
            return annotations.read(declared, key);
        } catch (IllegalArgumentException e) {
            throw invalid(e, origin);
        }
    }

    private PermitDefinition define(PermitDefinition read, String origin) {
        try {
            PermitCatalog permitCatalog = catalog.getIfAvailable();
            return permitCatalog == null ? read : permitCatalog.define(read);
        } catch (IllegalArgumentException e) {
            throw invalid(e, origin);
        }
    }

    private static InvalidPermitException invalid(IllegalArgumentException e, String origin) {
        String problem = String.valueOf(e.getMessage());
        return new InvalidPermitException(
                problem.contains(origin) ? problem : origin + ": " + problem,
                "Correct the annotation, or the settings under distributed-permit.permits",
                e);
    }
}
