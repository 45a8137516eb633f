package io.github.distributedpermit.contract;

import static io.github.distributedpermit.contract.Harness.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * What the members that are left learn of one that is not alive any more. A store that cannot tell the end of a session from the return
 * of permits leaves it out; one that can implements this beside its {@link PermitBackendContract}.
 */
public interface ExpiryLaws extends ContractTests {

    @Test
    default void memberWhoseClaimFreesThePermitsOfAnotherLearnsWhoseTheyWere(String key, Peer a, Peer b, Peer c) {
        c.queue(key, 5, 1);
        a.claim(a.queueing(key, 5, 3).lease(harness().fixture().shortLease()));
        harness().die(a);

        // A store may look again for the members that are alive only when it renews its session.
        patiently().untilAsserted(() -> assertThat(b.queue(key, 5, 4).permits()).isEqualTo(4));

        patiently().untilAsserted(() -> assertThat(b.expired()).containsExactly(key + " " + a.id() + " 3"));
        c.keep(key, 5, 0);
        b.keep(key, 5, 0);
        assertThat(b.expired()).as("none is reported twice, and no return").hasSize(1);
        assertThat(c.expired()).isEmpty();
    }
}
