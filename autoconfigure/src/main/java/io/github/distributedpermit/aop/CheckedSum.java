package io.github.distributedpermit.aop;

import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * An operand of a sum in a key, which has to have a text of its own: SpEL would turn a null among them into the text "null", and an
 * object into its identity.
 */
final class CheckedSum extends SpelNodeImpl {

    private final SpelNodeImpl operand;

    private CheckedSum(SpelNodeImpl operand) {
        super(operand.getStartPosition(), operand.getEndPosition(), operand);
        this.operand = operand;
    }

    /** The same expression; if it is a sum, one of operands that are evaluated once, and checked as they are. */
    static SpelExpression in(SpelExpression expression) {
        return expression.getAST() instanceof OpPlus sum
                ? new SpelExpression(expression.getExpressionString(), checked(sum), new SpelParserConfiguration())
                : expression;
    }

    private static SpelNodeImpl checked(SpelNodeImpl node) {
        if (!(node instanceof OpPlus)) {
            return new CheckedSum(node);
        }
        SpelNodeImpl[] operands = new SpelNodeImpl[node.getChildCount()];
        for (int i = 0; i < operands.length; i++) {
            operands[i] = checked((SpelNodeImpl) node.getChild(i));
        }
        return new OpPlus(node.getStartPosition(), node.getEndPosition(), operands);
    }

    @Override
    public TypedValue getValueInternal(ExpressionState state) {
        TypedValue value = operand.getTypedValue(state);
        KeyText.of(value.getValue(), operand.toStringAST());
        return value;
    }

    @Override
    public String toStringAST() {
        return operand.toStringAST();
    }
}
