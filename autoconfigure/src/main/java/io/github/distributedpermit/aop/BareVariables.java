package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * Refuses variables such as {@code #tenant}, and parameters such as <code>{tenant}</code>, outside of <code>#{...}</code> in a key.
 * Spring Cache and paths of Spring MVC evaluate them; here they would be literal text, and all tenants would share one limit. The
 * message has the key as it should be written.
 * Thread-safe.
 */
final class BareVariables {

    private static final String NAME = "[\\p{L}_$][\\p{L}\\p{N}_$]*";

    /** A variable, and the properties, calls without arguments and indexes that follow it. */
    private static final Pattern VARIABLE =
            Pattern.compile("#" + NAME + "(?:\\??\\." + NAME + "(?:\\(\\))?|\\[[^\\]]*\\])*");

    private static final Pattern BRACES = Pattern.compile("\\{(" + NAME + ")}");

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
        String marked = markParameters(text, method, names);
        if (!marked.equals(text)) {
            throw refusal(text, marked, origin);
        }
        if (VARIABLE.matcher(text).find()) {
            throw refusal(
                    text, Objects.requireNonNullElse(asExpression(text, method, names, origin), mark(text)), origin);
        }
    }

    /**
     * Checks the literal pieces of a key with expressions.
     *
     * @throws InvalidPermitException if one of them has a variable
     */
    void checkTemplate(
            String text, List<Expression> pieces, Method method, ParameterNameDiscoverer names, String origin) {
        boolean bare = false;
        StringBuilder corrected = new StringBuilder();
        for (Expression piece : pieces) {
            String content = piece.getExpressionString();
            if (piece instanceof LiteralExpression) {
                String marked = markParameters(content, method, names);
                boolean braces = !marked.equals(content);
                bare |= braces || VARIABLE.matcher(content).find();
                corrected.append(braces ? marked : mark(content));
            } else {
                corrected.append("#{").append(content).append('}');
            }
        }
        if (bare) {
            throw refusal(text, corrected.toString(), origin);
        }
    }

    /** The text with each parameter in braces written as an expression. */
    private static String markParameters(String text, Method method, ParameterNameDiscoverer names) {
        @Nullable String @Nullable [] parameters = names.getParameterNames(method);
        List<@Nullable String> known = parameters == null ? List.of() : Arrays.asList(parameters);
        return BRACES.matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(
                        known.contains(found.group(1)) ? "#{#" + found.group(1) + "}" : found.group()));
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

    /** The text as one expression, if it is what Spring Cache has as a key; {@code null} if it is text with a variable in it. */
    private @Nullable String asExpression(String text, Method method, ParameterNameDiscoverer names, String origin) {
        if (!text.contains("'") && !text.strip().startsWith("#")) {
            return null; // a-#b would parse as a subtraction
        }
        try {
            SpelExpression expression = parser.parseRaw(text);
            new KeyExpressionValidator("key", method, names, text, origin).check(expression.getAST());
            return "#{" + text.strip() + "}";
        } catch (ParseException | IllegalStateException | InvalidPermitException e) {
            return null;
        }
    }
}
