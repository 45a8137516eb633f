package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.Store;

/**
 * One row of the fault table.
 *
 * @param name on the command line
 * @param backend the store
 * @param fault what is done
 * @param expected what must come of it
 * @param hits how often in the long form
 * @param setup who takes part
 * @param opening starts a store of the scenario's own
 * @param blow the fault, once
 * @param <S> the store
 */
public record Scenario<S extends Store>(
        String name,
        String backend,
        String fault,
        String expected,
        int hits,
        Setup setup,
        Opening<S> opening,
        Blow<S> blow) {

    /** The same under another name. */
    public Scenario<S> called(String other) {
        return new Scenario<>(other, backend, fault, expected, hits, setup, opening, blow);
    }

    /** Starts a store. */
    @FunctionalInterface
    interface Opening<S> {
        S open() throws Exception;
    }

    /** A fault. */
    @FunctionalInterface
    interface Blow<S> {
        /** Strikes once, and returns when it is over. {@code false} if it hit nothing. */
        boolean strike(Stage stage, S store) throws Exception;
    }
}
