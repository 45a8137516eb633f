package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** Turns the text of a key or another attribute, placeholders resolved, into a template. Parses once per method, at start. */
final class KeyExpressions {

    private final SpelExpressionParser parser = new SpelExpressionParser();
    private final KeyContexts contexts = new KeyContexts();
    private final BareVariables bareVariables = new BareVariables(parser);

    /** @param names of the method's parameters, as the text has them */
    KeyTemplate parse(String text, Method method, ParameterNameDiscoverer names, String origin) {
        if (KeyTemplate.isLiteral(text)) {
            bareVariables.checkLiteral(text, method, names, origin);
            return (target, called, arguments) -> text;
        }
        bareVariables.checkTemplate(text, split("key", text, origin), method, names, origin);
        return parse("key", text, method, names, origin);
    }

    /** The same for any attribute, whose text has an expression. */
    KeyTemplate parse(String attribute, String text, Method method, ParameterNameDiscoverer names, String origin) {
        KeyExpressionValidator guard = new KeyExpressionValidator(attribute, method, names, text, origin);
        List<Expression> parts = new ArrayList<>();
        for (Expression expression : split(attribute, text, origin)) {
            if (expression instanceof SpelExpression spel) {
                guard.check(spel.getAST());
                parts.add(CheckedSum.in(spel));
            } else {
                parts.add(expression);
            }
        }
        return new SpelKey(attribute, text, origin, parts, names, contexts);
    }

    private List<Expression> split(String attribute, String text, String origin) {
        try {
            Expression whole = parser.parseExpression(text, ParserContext.TEMPLATE_EXPRESSION);
            return whole instanceof CompositeStringExpression composite
                    ? List.of(composite.getExpressions())
                    : List.of(whole);
        } catch (ParseException | IllegalStateException e) {
            throw new InvalidPermitException(
                    "%s: %s '%s' of @DistributedPermit does not parse: %s"
                            .formatted(origin, attribute, text, e.getMessage()),
                    "Write SpEL between #{ and }, such as \"tenant-#{#tenantId}\"",
                    e);
        }
    }
}
