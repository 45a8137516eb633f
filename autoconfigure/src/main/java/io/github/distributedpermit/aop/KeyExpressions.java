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

/** Turns the text of a key, placeholders resolved, into a template. Parses once per method, at start. */
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
        KeyExpressionValidator guard = new KeyExpressionValidator(method, names, text, origin);
        List<Expression> parts = new ArrayList<>();
        List<Expression> pieces = split(text, origin);
        bareVariables.checkTemplate(text, pieces, method, names, origin);
        for (Expression expression : pieces) {
            if (expression instanceof SpelExpression spel) {
                guard.check(spel.getAST());
                parts.add(CheckedSum.in(spel));
            } else {
                parts.add(expression);
            }
        }
        return new SpelKey(text, origin, parts, names, contexts);
    }

    private List<Expression> split(String text, String origin) {
        try {
            Expression whole = parser.parseExpression(text, ParserContext.TEMPLATE_EXPRESSION);
            return whole instanceof CompositeStringExpression composite
                    ? List.of(composite.getExpressions())
                    : List.of(whole);
        } catch (ParseException | IllegalStateException e) {
            throw new InvalidPermitException(
                    "%s: key '%s' of @DistributedPermit does not parse: %s".formatted(origin, text, e.getMessage()),
                    "Write SpEL between #{ and }, such as \"tenant-#{#tenantId}\"",
                    e);
        }
    }
}
