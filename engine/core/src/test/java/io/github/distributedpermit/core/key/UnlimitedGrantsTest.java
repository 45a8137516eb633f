package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.Release;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Permits that no store has recorded, at a shutdown. */
class UnlimitedGrantsTest {

    private static final long SECOND = 1_000_000_000L;

    private final PermitName permit = new PermitName(
            PermitDefinition.named("key", "the test").limit(1).build(),
            new Policy(
                    1, 15 * SECOND, 3 * SECOND, SECOND, SECOND, 0, 0, 10, false, Release.ASYNC, OnStoreFailure.FAIL));
    private int looks;
    private Admission admission = Admission.ALL;
    private int admissionsUntilError;

    private final UnlimitedGrants grants = new UnlimitedGrants(new QueueUnderLincheck.OnlyMember(true) {
        @Override
        public void progress() {
            looks++;
        }

        @Override
        public Admission admission() {
            if (--admissionsUntilError == 0) {
                throw new OutOfMemoryError("planted");
            }
            return admission;
        }
    });

    /** The look takes the lock of each queue, and the refused call may have that of one: two such calls would wait for each other. */
    @Test
    void refusedCallDoesNotLookAtTheQueues() {
        admission = Admission.NONE;

        assertThat(grants.grant(permit, "key", 1, 0)).isNull();

        assertThat(looks).isZero();
        assertThat(grants.isInUse()).isFalse();
    }

    @Test
    void callThatAnErrorKeepsFromItsPermitIsNotWaitedFor() {
        admissionsUntilError = 2;
        assertThatThrownBy(() -> grants.grant(permit, "key", 1, 0)).isInstanceOf(OutOfMemoryError.class);
        assertThat(grants.isInUse()).isFalse();
    }

    @Test
    void lastPermitThatComesBackAfterTheShutdownDoes() {
        Grant grant = Objects.requireNonNull(grants.grant(permit, "key", 1, 0));
        admission = Admission.WITHOUT_WAITING;
        assertThat(looks).isZero();

        grant.release();

        assertThat(looks).isEqualTo(1);
    }
}
