package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Calls that are queued as if they had arrived earlier. */
class HeadStartTest {

    private static final Duration HALF_A_MINUTE = Duration.ofSeconds(30);

    private final Bench bench = new Bench();

    private static PermitRequest urgent(Duration headStart) {
        return PermitRequest.builder(Bench.KEY).headStart(headStart).build();
    }

    @Test
    void aCallOvertakesThoseThatHaveWaitedForLessThanItsHeadStart() {
        List<String> overtakes = new ArrayList<>();
        Party party = bench.member("a", 1, CoreSettings.DEFAULTS, Bench.observing(new PermitObserver() {
            @Override
            public void overtook(PermitCall call, int calls) {
                overtakes.add(call.key() + " " + calls);
            }
        }));
        Permit held = party.hold();
        Asked old = party.acquire();
        bench.runMillis(31_000);
        Asked young = party.acquire();
        bench.runMillis(10);
        Asked first = party.ask(urgent(HALF_A_MINUTE));
        bench.runMillis(10);
        Asked second = party.ask(urgent(HALF_A_MINUTE));
        Asked most = party.ask(urgent(Duration.ofSeconds(30).plusMillis(15)));
        bench.runMillis(10);

        assertThat(overtakes).containsExactly(Bench.KEY + " 1", Bench.KEY + " 1", Bench.KEY + " 3");
        for (Asked next : List.of(old, most, first, second, young)) {
            held.release();
            bench.runMillis(10);
            assertThat(next.holds()).isTrue();
            held = next.permit();
        }
    }

    @Test
    void membersAreServedByTheirHeadStartsToo() {
        Party holder = bench.member("a", 1);
        Party bulk = bench.member("b", 1);
        Party urgent = bench.member("c", 1);
        Permit held = holder.hold();
        Asked old = bulk.acquire();
        bench.runMillis(1_000);
        Asked ahead = urgent.ask(urgent(HALF_A_MINUTE));
        bench.runMillis(10);

        held.release();
        bench.runMillis(10);

        assertThat(ahead.holds()).isTrue();
        assertThat(old.isWaiting()).isTrue();
        ahead.release();
        bench.runMillis(10);
        assertThat(old.holds()).isTrue();
    }

    @Test
    void aNewHeadThatIsOlderIsReportedAtOnce() {
        Party holder = bench.member("a", 1);
        Party other = bench.member("b", 1);
        Party party = bench.member("c", 1);
        Permit held = holder.hold();
        Asked before = other.acquire();
        bench.runMillis(100);
        party.acquire();
        bench.runMillis(2);
        long claims = party.claims();

        Asked ahead = party.ask(urgent(HALF_A_MINUTE));
        bench.runMillis(1);

        assertThat(party.claims()).isEqualTo(claims + 1);
        assertThat(party.lastClaim().head().waited()).isEqualTo(HALF_A_MINUTE);
        party.acquire();
        bench.runMillis(1);
        assertThat(party.claims()).as("a call behind changes nothing").isEqualTo(claims + 1);
        held.release();
        bench.runMillis(2);
        assertThat(ahead.holds()).isTrue();
        assertThat(before.isWaiting()).isTrue();
    }

    /** Else urgent calls of one member would keep the calls of others waiting without end that have no head start either. */
    @Test
    void callsWithoutAHeadStartAreNotServedInThePlaceOfOneThatHasIt() {
        Party holder = bench.member("a", 4);
        List<Permit> held = List.of(holder.hold(), holder.hold(), holder.hold(), holder.hold());
        Party other = bench.member("b", 4);
        List<Asked> earlier = ask(20, () -> other.acquire());
        bench.runMillis(100);
        Party party = bench.member("c", 4);
        List<Asked> later = ask(20, () -> party.acquire());
        bench.runMillis(10);
        held.forEach(Permit::release);

        List<Asked> urgent = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            List<Asked> running = Stream.of(earlier, later, urgent)
                    .flatMap(List::stream)
                    .filter(Asked::holds)
                    .toList();
            urgent.add(party.ask(urgent(HALF_A_MINUTE)));
            bench.runMillis(2);
            running.forEach(Asked::release);
            if (earlier.stream().anyMatch(Asked::isWaiting)) {
                assertThat(later).allMatch(Asked::isWaiting);
            }
        }

        assertThat(List.of(earlier, later, urgent.subList(0, 48)))
                .allSatisfy(calls -> assertThat(calls).noneMatch(Asked::isWaiting));
    }

    @Test
    void aMemberHasThePlaceOfACallWithAHeadStartUntilThatIsServed() {
        Party holder = bench.member("a", 2);
        List<Permit> held = List.of(holder.hold(), holder.hold());
        Asked earlier = bench.member("b", 2).acquire();
        bench.runMillis(10);
        Party party = bench.member("c", 2);
        Asked later = party.acquire();
        List<Asked> urgent = ask(2, () -> party.ask(urgent(HALF_A_MINUTE)));
        bench.runMillis(10);
        held.get(0).release();
        bench.runMillis(2);
        urgent.get(0).release();
        assertThat(urgent.get(1).holds()).isTrue();
        bench.runMillis(1);

        held.get(1).release();
        bench.runMillis(1);

        assertThat(earlier.holds()).isTrue();
        assertThat(later.isWaiting()).isTrue();
    }

    private static List<Asked> ask(int calls, Supplier<Asked> call) {
        return Stream.generate(call).limit(calls).toList();
    }

    @Test
    void permitsPassToCallsThatHaveAHeadStartTooForASlice() {
        Party holder = bench.member("a", 1);
        Permit held = holder.hold();
        Asked other = bench.member("b", 1).acquire();
        Party party = bench.member("c", 1);
        List<Asked> urgent = ask(20, () -> party.ask(urgent(HALF_A_MINUTE)));
        bench.runMillis(2);
        long claims = party.claims();
        held.release();
        bench.runMillis(1);

        for (int i = 0; i < 5; i++) {
            urgent.get(i).release();
            bench.time.run(500_000);
        }

        assertThat(urgent.get(5).holds()).isTrue();
        assertThat(party.claims()).isLessThanOrEqualTo(claims + 1);
        assertThat(other.isWaiting()).isTrue();
    }

    @Test
    void aCallThatComesWhileTheStoreIsAwayIsServedFirstAfterwards() {
        Party holder = bench.member("a", 1);
        Party other = bench.member("b", 1);
        Party party = bench.member("c", 1);
        Permit held = holder.hold();
        Asked old = other.acquire();
        Asked before = party.acquire();
        bench.runMillis(10);
        bench.conditions.claimsLost = true;
        bench.runMillis(1_000);
        Asked ahead = party.ask(urgent(HALF_A_MINUTE));
        bench.runMillis(3_000);
        bench.conditions.claimsLost = false;
        bench.runMillis(2_000);

        held.release();
        for (Asked next : List.of(ahead, old, before)) {
            bench.runMillis(20);
            assertThat(next.holds()).isTrue();
            next.release();
        }
    }

    @Test
    void aCallThatDoesNotWaitHasNoUseForIt() {
        Party party = bench.member("a", 1);
        Permit held = party.hold();
        Asked waiting = party.acquire();
        Asked attempt = party.ask(PermitRequest.builder(Bench.KEY)
                .withoutWaiting()
                .headStart(HALF_A_MINUTE)
                .build());
        bench.runMillis(5);

        assertThat(attempt.failure()).isInstanceOf(PermitRejectedException.class);
        held.release();
        bench.runMillis(5);
        assertThat(waiting.holds()).isTrue();
    }

    @Test
    void theSettingsOfItsNameGiveACallItsHeadStart() {
        PermitSettings ahead =
                PermitSettings.builder().limit(1).headStart(HALF_A_MINUTE).build();
        Party party = bench.member("a", Map.of(Bench.KEY, ahead), CoreSettings.DEFAULTS, Observers.NONE);
        Permit held = party.hold();
        Asked without = party.ask(urgent(Duration.ZERO));
        bench.runMillis(5);
        Asked with = party.acquire();
        bench.runMillis(5);

        held.release();
        bench.runMillis(5);
        assertThat(with.holds()).isTrue();
        assertThat(without.isWaiting()).isTrue();
    }

    /** A claim that is under way asks for those before and behind it, and not for the call in the middle. */
    @Test
    void aCallInTheMiddleOfTheQueueIsRejectedByAShutdown() {
        Party holder = bench.member("a", 1);
        Party party = bench.member("b", 1);
        holder.hold();
        party.acquire();
        bench.runMillis(5);
        party.ask(urgent(Duration.ofMillis(50))).future.isDone();
        Asked last = party.acquire();
        Asked middle = party.ask(urgent(Duration.ofMillis(1)));

        party.engine.shutdown();
        bench.runMillis(50);

        assertThat(last.failure()).isInstanceOf(PermitRejectedException.class);
        assertThat(middle.failure()).isInstanceOf(PermitRejectedException.class);
    }

    @Test
    void headStartsAreFromZeroToAnHour() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> urgent(Duration.ofHours(1).plusNanos(1)))
                .withMessageContaining("not between 0 and an hour");
        assertThatIllegalArgumentException().isThrownBy(() -> urgent(Duration.ofNanos(-1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PermitDefinition.named(Bench.KEY, "test")
                        .headStart(Duration.ofNanos(-1))
                        .build());
        assertThat(urgent(Duration.ofHours(1)).and(urgent(Duration.ZERO)).headStart())
                .isEqualTo(Duration.ofHours(1));
    }

    /** The queue beside a list that is sorted anew each time. */
    @Test
    void theQueueKeepsOrderAndCountsInAnyOrderOfEvents() {
        Random random = new Random(4);
        PermitName permit = new PermitName(
                PermitDefinition.named("k", "test").limit(5).build(),
                Policy.of(CoreSettings.DEFAULTS, PermitSettings.ofLimit(5).orElse(PermitSettings.BASE)));
        for (int run = 0; run < 200; run++) {
            WaiterQueue queue = new WaiterQueue();
            List<Waiter> model = new ArrayList<>();
            long sequence = 0;
            for (int now = 1; now < 200; now++) {
                switch (random.nextInt(6)) {
                    case 0, 1, 2 -> {
                        Waiter waiter = new Waiter(permit, "k", 1, random.nextInt(5) > 0, now, outcome -> {});
                        waiter.startAhead(random.nextInt(3) == 0 ? random.nextInt(100) : 0);
                        long behind = model.stream()
                                .filter(each -> each.queuedAt > waiter.queuedAt)
                                .count();
                        assertThat(queue.add(waiter)).isEqualTo((int) behind);
                        model.add(waiter);
                    }
                    case 3 -> {
                        if (!model.isEmpty()) {
                            queue.remove(model.remove(random.nextInt(model.size())));
                        }
                    }
                    case 4 -> queue.noteClaim(++sequence, 5);
                    default -> {
                        if (random.nextInt(8) == 0) {
                            queue.forgetClaims();
                        } else {
                            queue.noteAnswered(sequence - random.nextInt(2));
                        }
                    }
                }
                model.sort(Comparator.comparingLong(waiter -> waiter.queuedAt));
                assertThat(inOrder(queue)).isEqualTo(model);
                assertThat(queue.provenWaiting()).isEqualTo((int)
                        model.stream().filter(each -> each.hasToWait).count());
                assertThat(queue.hasUnclaimedTry())
                        .isEqualTo(model.stream().anyMatch(each -> each.isTry && each.firstClaim == Waiter.UNCLAIMED));
                assertThat(queue.hasHeadStarts())
                        .isEqualTo(model.stream().anyMatch(each -> each.queuedAt != each.arrival));
            }
            queue.noteClaim(++sequence, 5);
            assertThat(model).allSatisfy(each -> assertThat(each.firstClaim).isPositive());
            queue.noteAnswered(sequence);
            assertThat(queue.provenWaiting()).isEqualTo(model.size());
        }
    }

    private static List<Waiter> inOrder(WaiterQueue queue) {
        List<Waiter> all = new ArrayList<>();
        for (Waiter w = queue.first(); w != null; w = w.next) {
            assertThat(w.previous).isSameAs(all.isEmpty() ? null : all.get(all.size() - 1));
            all.add(w);
        }
        return all;
    }
}
