package io.github.distributedpermit.contract;

/** What the groups of tests in the contract share. */
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
}
