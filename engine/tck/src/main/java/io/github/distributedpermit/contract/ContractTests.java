package io.github.distributedpermit.contract;

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** What the groups of tests in the contract share. */
@ExtendWith(ContractTests.Parties.class)
interface ContractTests {

    Harness harness();

    default Peer peer() {
        return harness().peer();
    }

    default String key() {
        return harness().key();
    }

    default KeySnapshot look(String key) {
        return harness().look(key);
    }

    /** Gives a test of the contract the keys and the members that are its parameters. They join in the order of the parameters. */
    final class Parties implements ParameterResolver {

        /** Not of the tests that a backend adds in its own class, which may have other parameters. */
        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
            Class<?> type = parameter.getParameter().getType();
            return parameter.getDeclaringExecutable().getDeclaringClass().isInterface()
                    && (type == String.class || type == Peer.class);
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
            ContractTests tests = (ContractTests) test.getRequiredTestInstance();
            return parameter.getParameter().getType() == Peer.class ? tests.peer() : tests.key();
        }
    }
}
