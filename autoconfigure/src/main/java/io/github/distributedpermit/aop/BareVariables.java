package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * Refuses variables such as {@code #tenant} outside of <code>#{...}</code> in a key. Spring Cache evaluates such a key;
 * here it would be literal text, and all tenants would share one limit. The message has the key as it should be written.
 * Thread-safe.
 */
final class BareVariables {

    private static final String NAME = "[\\p{L}_$][\\p{L}\\p{N}_$]*";

    /** A variable, and the properties, calls without arguments and indexes that follow it. */
    private static final Pattern VARIABLE =
            Pattern.compile("#" + NAME + "(?:\\??\\." + NAME + "(?:\\(\\))?|\\[[^\\]]*\\])*");

    private final SpelExpressionParser parser;

    BareVariables(SpelExpressionParser parser) {
        this.parser = parser;
    }

    /**
     * Checks a key that is one literal text.
     *
     * @throws InvalidPermitException if the text has a variable
     */
    void checkLiteral(String text, Method method, ParameterNameDiscoverer names, String origin) {
        if (VARIABLE.matcher(text).find()) {
            String asExpression = fromExpression(text, method, names, origin);
            throw refusal(text, asExpression != null ? asExpression : mark(text), origin);
        }
    }

    /**
     * Checks the literal pieces of a key with expressions.
     *
     * @throws InvalidPermitException if one of them has a variable
     */
    void checkTemplate(String text, List<Expression> pieces, String origin) {
        boolean bare = false;
        StringBuilder corrected = new StringBuilder();
        for (Expression piece : pieces) {
            String content = piece.getExpressionString();
            if (piece instanceof LiteralExpression) {
                bare |= VARIABLE.matcher(content).find();
                corrected.append(mark(content));
            } else {
                corrected.append("#{").append(content).append('}');
            }
        }
        if (bare) {
            throw refusal(text, corrected.toString(), origin);
        }
    }

    private static String mark(String text) {
        return VARIABLE.matcher(text).replaceAll(found -> Matcher.quoteReplacement("#{" + found.group() + "}"));
    }

    private static InvalidPermitException refusal(String text, String corrected, String origin) {
        return new InvalidPermitException(
                "%s: key '%s' of @DistributedPermit has a variable outside of #{ and }, where it is literal text: all calls would share one key"
                        .formatted(origin, text),
                "Write key = \"%s\". For the sign # itself, write #{'#'}".formatted(corrected));
    }

    /** The same as a template, if the whole text is an expression as Spring Cache has it. */
    private @Nullable String fromExpression(String text, Method method, ParameterNameDiscoverer names, String origin) {
        if (!text.contains("'") && !text.strip().startsWith("#")) {
            return null; // a-#b would parse as a subtraction
        }
        try {
            SpelNode root = ((SpelExpression) parser.parseRaw(text)).getAST();
            new KeyExpressionValidator(method, names, text, origin).check(root);
            return root instanceof OpPlus ? template(root) : "#{" + text.strip() + "}";
        } catch (ParseException | IllegalStateException | InvalidPermitException e) {
            return null;
        }
    }

    /** Takes a sum apart where its first operand is text, so that all of it is text. */
    private static String template(SpelNode node) {
        if (node instanceof StringLiteral literal) {
            return String.valueOf(literal.getLiteralValue().getValue());
        }
        if (node instanceof OpPlus && node.getChildCount() == 2 && startsWithText(node)) {
            return template(node.getChild(0)) + template(node.getChild(1));
        }
        return "#{" + node.toStringAST() + "}";
    }

    private static boolean startsWithText(SpelNode node) {
        if (!(node instanceof OpPlus)) {
            return node instanceof StringLiteral;
        }
        boolean binary = node.getChildCount() == 2;
        return startsWithText(node.getChild(0)) || binary && node.getChild(1) instanceof StringLiteral;
    }
}
