package io.github.distributedpermit.benchmark.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DuelTest {

    @Test
    void orderRotatesAndTheWarmUpDoesNotCount() throws Exception {
        List<String> order = new ArrayList<>();
        Map<String, Slice> slices = new LinkedHashMap<>();
        for (String name : List.of("a", "b", "c")) {
            slices.put(name, number -> {
                order.add(name + number);
                return stats(number);
            });
        }
        Duel duel = Duel.run(slices, 1, 2);
        assertThat(order).containsExactly("a-1", "b-1", "c-1", "c0", "a0", "b0", "b1", "c1", "a1");
        assertThat(duel.of("a")).extracting(SliceStats::perSecond).containsExactly(0.0, 1.0);
    }

    @Test
    void ratioIsTakenRoundByRound() throws Exception {
        Map<String, Slice> slices = new LinkedHashMap<>();
        slices.put("ours", number -> stats(10.0 * (number + 1)));
        slices.put("peer", number -> stats(number + 1.0));
        Quartiles ratio = Duel.run(slices, 0, 5).ratio("ours", "peer", SliceStats::perSecond);
        assertThat(ratio).isEqualTo(new Quartiles(10, 10, 10));
    }

    @Test
    void severalDuelsCountAsOne() throws Exception {
        Map<String, Slice> slices = Map.of("ours", number -> stats(number));
        Duel all = Duel.of(List.of(Duel.run(slices, 0, 2), Duel.run(slices, 0, 1)));
        assertThat(all.of("ours")).extracting(SliceStats::perSecond).containsExactly(0.0, 1.0, 0.0);
    }

    @Test
    void warmUpOfEachContenderEndsWhenItIsSteady() throws Exception {
        Map<String, Integer> slicesOf = new HashMap<>();
        Map<String, Slice> slices = new LinkedHashMap<>();
        slices.put("steady", number -> stats(100 + slicesOf.merge("steady", 1, Integer::sum) % 2));
        slices.put(
                "faster each time", number -> stats(Math.pow(2, slicesOf.merge("faster each time", 1, Integer::sum))));
        Duel duel = Duel.runWarm(slices, 9, 2);
        assertThat(slicesOf).containsEntry("steady", 9 + 2).containsEntry("faster each time", 2 * 9 + 2);
        assertThat(duel.of("steady")).hasSize(2);
        assertThat(duel.of("faster each time")).hasSize(2);
    }

    @Test
    void quartilesLieBetweenTheValues() {
        assertThat(Quartiles.of(4, 1, 3, 2, 5, Double.NaN)).isEqualTo(new Quartiles(2, 3, 4));
        assertThat(Quartiles.of(1, 2).median()).isEqualTo(1.5);
    }

    private static SliceStats stats(double perSecond) {
        return new SliceStats(1, perSecond, 0, 0, 0, 0, 0, 0, 0, 0, new CallTimes(0, 0, 0, 0));
    }
}
