package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.OpDec;
import org.springframework.expression.spel.ast.OpInc;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;

/** Refuses at start what would fail at the first call: unknown parameters, and what expressions may not see. */
final class KeyGuard {

    private final String text;
    private final String origin;
    private final Set<String> known = new LinkedHashSet<>();

    KeyGuard(Method method, ParameterNameDiscoverer discoverer, String text, String origin) {
        this.text = text;
        this.origin = origin;
        @Nullable String @Nullable [] names = discoverer.getParameterNames(method);
        for (int i = 0; i < method.getParameterCount(); i++) {
            if (names != null) {
                known.add("#" + names[i]);
            }
            known.add("#p" + i);
            known.add("#a" + i);
        }
        known.add("#root");
    }

    void check(SpelNode node) {
        if (isForbidden(node)) {
            throw new InvalidPermitException(
                    "%s: '%s' in key '%s' of @DistributedPermit is not allowed"
                            .formatted(origin, node.toStringAST(), text),
                    "A key sees the call's arguments, their properties and methods; no types, constructors, beans,"
                            + " functions or assignments");
        }
        if (node instanceof VariableReference && !isKnown(node.toStringAST())) {
            throw new InvalidPermitException(
                    "%s: key '%s' of @DistributedPermit names %s, which is no parameter"
                            .formatted(origin, text, node.toStringAST()),
                    "Known are %s. Parameters have names only in classes compiled with -parameters"
                            .formatted(String.join(", ", known)));
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            check(node.getChild(i));
        }
    }

    private boolean isKnown(String variable) {
        return known.contains(variable) || variable.equals("#this");
    }

    private static boolean isForbidden(SpelNode node) {
        return node instanceof TypeReference
                || node instanceof ConstructorReference
                || node instanceof BeanReference
                || node instanceof FunctionReference
                || node instanceof Assign
                || node instanceof OpInc
                || node instanceof OpDec;
    }
}
