package io.github.distributedpermit.aop;

import java.util.ArrayList;
import java.util.List;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * One piece of a key.
 *
 * @param expression gives the piece
 * @param operands what {@code +} puts together in it, each checked by itself; SpEL would turn a null among them into the
 *     text "null", and an object into its identity
 */
record KeyPart(Expression expression, List<Expression> operands) {

    static KeyPart literal(String text) {
        return new KeyPart(new LiteralExpression(text), List.of());
    }

    static KeyPart evaluated(SpelExpression expression) {
        List<Expression> operands = new ArrayList<>();
        if (expression.getAST() instanceof OpPlus sum) {
            collect(sum, operands);
        }
        return new KeyPart(expression, List.copyOf(operands));
    }

    private static void collect(SpelNode node, List<Expression> operands) {
        if (node instanceof OpPlus) {
            for (int i = 0; i < node.getChildCount(); i++) {
                collect(node.getChild(i), operands);
            }
        } else {
            operands.add(new SpelExpression(node.toStringAST(), (SpelNodeImpl) node, new SpelParserConfiguration()));
        }
    }

    /**
     * What the piece is in this call.
     *
     * @throws KeyText.Missing if that or an operand of it has no text of its own
     */
    String text(EvaluationContext context) {
        for (Expression operand : operands) {
            KeyText.of(operand, context);
        }
        return KeyText.of(expression, context);
    }
}
