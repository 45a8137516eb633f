package io.github.distributedpermit.contract;

import static io.github.distributedpermit.contract.Harness.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * What an operator sees of a key, and what an operator can take from a member. A backend may leave both out; one that has them
 * implements this beside its {@link PermitBackendContract}.
 */
public interface OperatorLaws extends ContractTests {

    @Test
    default void inspectionHasHoldersThenTheQueueInItsOrder(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 1, 1);
        b.queue(key, 1, 1);
        c.queue(key, 1, 1);

        KeyState state = a.inspect(key);

        assertThat(state.used()).isEqualTo(1);
        assertThat(state.members()).extracting(MemberState::member).containsExactly(a.id(), b.id(), c.id());
        assertThat(state.queue()).extracting(MemberState::member).containsExactly(b.id(), c.id());
    }

    @Test
    default void inspectionNamesTheMembers(String key, Peer a, Peer b) {
        a.queue(key, 1, 1);
        b.queue(key, 1, 1);

        patiently()
                .untilAsserted(() -> assertThat(b.inspect(key).members())
                        .as("names of the members")
                        .extracting(MemberState::name)
                        .containsExactly(Optional.of(a.name()), Optional.of(b.name())));
    }

    /** A member wants no more than the limit, so that its claim states the other calls apart. */
    @Test
    default void inspectionCountsTheCallsThatWait(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 2, 2);
        b.claim(b.queueing(key, 2, 2).shown(new Claim.Shown(205)));
        c.queue(key, 2, 1);
        assertThat(a.inspect(key).members()).extracting(MemberState::calls).containsExactly(0, 207, 1);

        a.keep(key, 2, 1);

        assertThat(c.inspect(key).queue())
                .as("one of them was served, and no claim has said so")
                .extracting(MemberState::calls)
                .containsExactly(206, 1);
        b.awaitAnyNotice(key);
        b.claim(b.queueing(key, 2, 2).shown(new Claim.Shown(9)));
        assertThat(c.inspect(key).queue()).extracting(MemberState::calls).containsExactlyInAnyOrder(10, 1);
        b.keep(key, 2, 1);
        assertThat(c.inspect(key).queue()).extracting(MemberState::calls).containsExactly(1);
    }

    @Test
    default void callsOfAMemberAreCountedByTheWeightOfItsOldest(String key, Peer a, Peer b) {
        a.queue(key, 6, 6);
        b.claim(b.queueing(key, 6, 6).queued(3).shown(new Claim.Shown(4)));

        assertThat(a.inspect(key).queue()).extracting(MemberState::calls).containsExactly(6);
    }

    @Test
    default void evictedPermitsGoToTheQueueAndTheMemberIsNotified(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 2, 2);
        b.queue(key, 2, 1);

        assertThat(c.evict(key, a.id())).isEqualTo(2);

        patiently().untilAsserted(() -> assertThat(look(key).permits(b)).isEqualTo(1));
        assertThat(look(key).permits(a)).isZero();
        a.awaitAnyNotice(key);
        b.awaitAnyNotice(key);
        assertThat(c.evict(key, a.id())).isZero();
    }

    /** Members that never waited for the key are notified as well. */
    @Test
    default void evictedMemberIsNotifiedAlthoughItDidNotQueue(String key, Peer a, Peer b) {
        assertThat(a.attempt(key, 1, 1).permits()).isEqualTo(1);

        assertThat(b.evict(key, a.id())).isEqualTo(1);

        a.awaitAnyNotice(key);
        assertThat(a.attempt(key, 1, 0).permits()).isZero();
    }

    @Test
    default void evictedMemberThatWaitsForMoreKeepsNothing(String key, Peer a, Peer b) {
        a.queue(key, 2, 2);
        a.claim(a.queueing(key, 2, 3));

        assertThat(b.evict(key, a.id())).isEqualTo(2);

        patiently().untilAsserted(() -> assertThat(look(key).used()).isZero());
        assertThat(a.granted().stream().filter(permits -> permits > 0)).isEmpty();
        assertThat(a.queue(key, 2, 1).permits()).isEqualTo(1);
    }

    @Test
    default void permitOfAMemberThatHadQueuedFirstGoesToTheNext(String key, Peer holder, Peer first, Peer next) {
        holder.queue(key, 1, 1);
        first.queue(key, 1, 1);
        next.queue(key, 1, 1);
        holder.keep(key, 1, 0);
        first.awaitAnyNotice(key);

        assertThat(holder.evict(key, first.id())).isEqualTo(1);

        patiently().untilAsserted(() -> assertThat(look(key).permits(next)).isEqualTo(1));
        assertThat(look(key).permits(first)).isZero();
        assertThat(look(key).used()).isEqualTo(1);
        first.keep(key, 1, 0); // as a member does that has received the loss
    }

    @Test
    default void evictionOfAnUnknownMemberOrKeyTakesNothing(String key, Peer a) {
        a.queue(key, 1, 1);

        assertThat(a.evict(key, "no-such-member")).isZero();
        assertThat(a.evict(key(), a.id())).isZero();

        assertThat(look(key).permits(a)).isEqualTo(1);
    }
}
