package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.OpDec;
import org.springframework.expression.spel.ast.OpInc;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;

/** Refuses at start what would fail at the first call: unknown parameters, and what expressions may not see. */
final class KeyExpressionValidator {

    /** Of {@code #root}, which a name without anything before it belongs to. */
    private static final Set<String> PROPERTIES = Set.of("target", "method", "args", "class");

    private final String attribute;
    private final String text;
    private final String origin;
    private final Set<String> known = new LinkedHashSet<>();

    KeyExpressionValidator(
            String attribute, Method method, ParameterNameDiscoverer discoverer, String text, String origin) {
        this.attribute = attribute;
        this.text = text;
        this.origin = origin;
        @Nullable String @Nullable [] names = discoverer.getParameterNames(method);
        int parameters = SuspendingFunctions.parameters(method).length; // Kotlin's names are those of the source
        for (int i = 0; i < parameters; i++) {
            if (names != null) {
                known.add("#" + names[i]);
            }
            known.add("#p" + i);
            known.add("#a" + i);
        }
        known.add("#root");
    }

    void check(SpelNode expression) {
        checkNames(expression, true);
        checkSums(expression, true);
    }

    /** The operands of a sum are looked at in each call, which can be done where all are evaluated in each call. */
    private void checkSums(SpelNode node, boolean outermost) {
        if (!outermost && mayHideOperands(node)) {
            throw new InvalidPermitException(
                    "%s: the sum '%s' within an expression of %s '%s' of @DistributedPermit could hide a null"
                            .formatted(origin, node.toStringAST(), attribute, text),
                    "Write text outside of #{ and }, such as \"tenant-#{#id}\" for #{'tenant-' + #id}, or"
                            + " \"#{#vip ? 'vip' : 'std'}-#{#id}\" for #{#vip ? 'vip-' + #id : 'std-' + #id}");
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            checkSums(node.getChild(i), outermost && node instanceof OpPlus);
        }
    }

    /** Text and null make "null"; a number and null make an error. */
    private static boolean mayHideOperands(SpelNode node) {
        return node instanceof OpPlus
                && node.getChildCount() == 2
                && !isNumber(node.getChild(0))
                && !isNumber(node.getChild(1));
    }

    private static boolean isNumber(SpelNode node) {
        return node instanceof Literal literal && literal.getLiteralValue().getValue() instanceof Number;
    }

    /** @param ofRoot whether a name that nothing stands before is one of {@code #root}, and not of an element or the key of a map */
    private void checkNames(SpelNode node, boolean ofRoot) {
        if (isForbidden(node)) {
            throw new InvalidPermitException(
                    "%s: '%s' in %s '%s' of @DistributedPermit is not allowed"
                            .formatted(origin, node.toStringAST(), attribute, text),
                    "An expression sees the call's arguments, their properties and methods; no types, constructors, beans,"
                            + " functions or assignments");
        }
        if (node instanceof VariableReference && !isKnown(node.toStringAST())) {
            throw new InvalidPermitException(
                    "%s: %s '%s' of @DistributedPermit names %s, which is no parameter"
                            .formatted(origin, attribute, text, node.toStringAST()),
                    "Known are %s. Parameters have names only in classes compiled with -parameters"
                            .formatted(String.join(", ", known)));
        }
        if (ofRoot && node instanceof PropertyOrFieldReference property && !PROPERTIES.contains(property.getName())) {
            throw noProperty(property.getName());
        }
        boolean elements = node instanceof Projection || node instanceof Selection || node instanceof Indexer;
        for (int i = 0; i < node.getChildCount(); i++) {
            boolean afterADot =
                    node instanceof CompoundExpression && i > 0 && node.getChild(i) instanceof PropertyOrFieldReference;
            checkNames(node.getChild(i), ofRoot && !elements && !afterADot);
        }
    }

    private InvalidPermitException noProperty(String name) {
        String variable = "#" + name;
        return new InvalidPermitException(
                "%s: %s '%s' of @DistributedPermit names '%s', which is no property"
                        .formatted(origin, attribute, text, name),
                isKnown(variable)
                        ? "Write %s for the parameter".formatted(variable)
                        : "Known are %s".formatted(String.join(", ", known)));
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
