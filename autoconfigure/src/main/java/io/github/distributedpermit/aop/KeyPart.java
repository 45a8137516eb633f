package io.github.distributedpermit.aop;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * One piece of a key.
 *
 * @param expression gives the piece. What {@code +} puts together in it is checked operand by operand: SpEL would turn a
 *     null among them into the text "null", and an object into its identity
 */
record KeyPart(Expression expression) {

    static KeyPart literal(String text) {
        return new KeyPart(new LiteralExpression(text));
    }

    static KeyPart evaluated(SpelExpression expression) {
        return expression.getAST() instanceof OpPlus sum
                ? new KeyPart(new SpelExpression(
                        expression.getExpressionString(), checked(sum), new SpelParserConfiguration()))
                : new KeyPart(expression);
    }

    /** The same sum, of operands that are evaluated once, and checked as they are. */
    private static SpelNodeImpl checked(SpelNodeImpl node) {
        if (!(node instanceof OpPlus)) {
            return new CheckedOperand(node);
        }
        SpelNodeImpl[] operands = new SpelNodeImpl[node.getChildCount()];
        for (int i = 0; i < operands.length; i++) {
            operands[i] = checked((SpelNodeImpl) node.getChild(i));
        }
        return new OpPlus(node.getStartPosition(), node.getEndPosition(), operands);
    }

    /**
     * What the piece is in this call.
     *
     * @throws KeyText.Missing if that or an operand of it has no text of its own
     */
    String text(EvaluationContext context) {
        return KeyText.of(expression.getValue(context), expression.getExpressionString());
    }
}
