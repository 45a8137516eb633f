package io.github.distributedpermit.harness.tenants;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.distributedpermit.harness.fleet.RedisStore;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The short form of {@code ./verification/harness/run tenants}. */
class TenantRunTest {

    private static final Path FOLDER = Path.of("target", "harness", "tenants-short");

    @Test
    void chainsOfThreeEndAndKeepAllLimits() throws Exception {
        try (RedisStore store = RedisStore.start()) {
            List<Grant> grants = new TenantRun("chains", 2, 6, 0, 0).on(store, FOLDER);
            assertThat(TenantRun.mostInUse(grants)).containsOnlyKeys("all", "tenant", "user");
        }
    }

    @Test
    void urgentCallsOvertakeNoneThatHasWaitedForLonger() throws Exception {
        try (RedisStore store = RedisStore.start()) {
            List<Grant> grants = new TenantRun("urgent", 2, 8, 30, 200).on(store, FOLDER);
            assertThat(grants).extracting(Grant::kind).contains("urgent", "bulk");
            assertThat(TenantRun.mostInUse(grants)).containsOnlyKeys("smtp");
            assertThat(TenantRun.longestOvertaking(grants)).isLessThan(30);
            assertThat(TenantRun.mostOvertaking(grants)).isLessThan(100);
        }
    }

    @Test
    void groupsThatShareALimitDoNotWaitForTheQueueOfAnother() throws Exception {
        try (RedisStore store = RedisStore.start()) {
            List<Grant> grants = new TenantRun("fair", 3, 0, 0, 1).on(store, FOLDER);
            assertThat(grants).hasSize(1_020);
            assertThat(TenantRun.mostInUse(grants)).containsOnlyKeys("shared");
            long endOfA = grants.stream()
                    .filter(each -> each.kind().equals("a"))
                    .mapToLong(Grant::granted)
                    .max()
                    .orElseThrow();
            assertThat(grants)
                    .filteredOn(each -> !each.kind().equals("a"))
                    .hasSize(20)
                    // a member that stands still may ask so late that none of the others waits any more
                    .allMatch(each -> each.granted() < endOfA || each.arrived() > endOfA - 1_000_000_000L)
                    .filteredOn(each -> each.granted() < endOfA)
                    .hasSizeGreaterThanOrEqualTo(10);
        }
    }

    @Test
    void rollingChangeOfALimitStallsNoCallAndLowersWhatIsInUse() throws Exception {
        try (RedisStore store = RedisStore.start()) {
            List<Grant> grants = new TenantRun("rolling", 2, 16, 0, 0).on(store, FOLDER);
            assertThat(grants).extracting(Grant::kind).contains("to 4", "to 12");
            assertThat(TenantRun.mostInUse(grants)).containsEntry("rolling", 12);
            assertThat(TenantRun.rolling(grants, 2)).contains("to 4");
        }
    }

    @Test
    void aPermitThatLingersIsNeverUsedTwiceAndEachWaitEnds() throws Exception {
        try (RedisStore store = RedisStore.start()) {
            List<Grant> calls = new TenantRun(LingerLoad.NAME, 3, 6, 0, 10).on(store, FOLDER);
            assertThat(calls)
                    .extracting(Grant::kind)
                    .contains("owner", "waited")
                    .containsAnyOf("tried", "refused");
            assertThat(TenantRun.mostInUse(calls.stream()
                            .filter(call -> call.key().equals(LingerLoad.NAME))
                            .toList()))
                    .containsEntry(LingerLoad.NAME, 1);
        }
    }

    @Test
    void refusalsAndWaitsWhileNoCallHoldsAreCounted() {
        assertThat(LingerLoad.result(List.of(
                        new Grant("owner", "linger", 0, 1_000_000, 2_000_000),
                        new Grant("refused", "refusals", 1_500_000, 1_600_000, 1_600_000),
                        new Grant("refused", "refusals", 2_500_000, 2_600_000, 2_600_000),
                        new Grant("waited", "linger", 1_500_000, 5_000_000, 6_000_000))))
                .startsWith(
                        "of 2 tries 2 refused, 1 of these while no call held; 1 calls waited while no call held for 3.00 ms");
    }

    @Test
    void permitsAboveALoweredLimitAreFound() {
        List<Grant> grants = new ArrayList<>(List.of(
                new Grant("to 4", "rolling", 0, 0, 0),
                new Grant("to 4", "rolling", 0, 1_000, 1_000),
                new Grant("to 12", "rolling", 9_000_000_000L, 9_000_000_000L, 9_000_000_000L)));
        for (int i = 0; i < 4; i++) {
            grants.add(new Grant("call", "rolling", 0, 2_000_000_000L, 3_000_000_000L));
        }
        assertThat(TenantRun.rolling(grants, 2)).contains("to 4: 1");
        grants.add(new Grant("call", "rolling", 0, 2_500_000_000L, 3_000_000_000L));
        assertThatIllegalStateException()
                .isThrownBy(() -> TenantRun.rolling(grants, 2))
                .withMessageContaining("5 permits");
    }

    @Test
    void permitsAboveTheLimitAreFound() {
        Grant one = new Grant("call", "user-1", 0, 10, 20);
        Grant other = new Grant("call", "user-1", 0, 19, 30);
        assertThat(TenantRun.mostInUse(List.of(one))).containsEntry("user", 1);
        assertThatIllegalStateException()
                .isThrownBy(() -> TenantRun.mostInUse(List.of(one, other)))
                .withMessageContaining("2 permits of user-1");
    }

    @Test
    void callsThatWereOvertakenAreFoundAlsoIfTheyWereNotServed() {
        Grant urgent = new Grant("urgent", "smtp", 5_000_000_000L, 6_000_000_000L, 7_000_000_000L);
        Grant bulk = new Grant("bulk", "smtp", 3_000_000_000L, 7_000_000_000L, 8_000_000_000L);
        Grant unserved = new Grant("unserved", "smtp", 1_000_000_000L, 9_000_000_000L, 9_000_000_000L);
        Grant soon = new Grant("unserved", "smtp", 2_500_000_000L, 9_000_000_000L, 9_000_000_000L);
        assertThat(TenantRun.longestOvertaking(List.of(unserved, bulk, urgent))).isEqualTo(4);
        assertThat(TenantRun.mostOvertaking(List.of(unserved, soon, bulk, urgent)))
                .isOne();
        assertThat(TenantRun.mostOvertaking(List.of(soon, bulk, urgent))).isZero();
        assertThat(TenantRun.mostOvertaking(List.of(unserved, soon))).isZero();
    }
}
