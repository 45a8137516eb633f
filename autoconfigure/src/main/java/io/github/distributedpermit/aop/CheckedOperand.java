package io.github.distributedpermit.aop;

import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.ast.SpelNodeImpl;

/** An operand of a sum, which has to have a text of its own. */
final class CheckedOperand extends SpelNodeImpl {

    private final SpelNodeImpl operand;

    CheckedOperand(SpelNodeImpl operand) {
        super(operand.getStartPosition(), operand.getEndPosition(), operand);
        this.operand = operand;
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
