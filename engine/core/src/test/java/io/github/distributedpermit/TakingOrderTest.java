package io.github.distributedpermit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TakingOrderTest {

    private final Map<String, String> within = new HashMap<>();

    /** Names whose key is made for each call. */
    private final List<String> manyKeys = new ArrayList<>();

    @Test
    void permitsWithManyKeysPrecedeThoseWithOne() {
        assertThat(order(request("a", "a"), request("z-1", "z"), request("y-1", "y")))
                .containsExactly("y-1", "z-1", "a");
    }

    @Test
    void aKeyThatIsTheFullFormOfTheNameIsTheOnlyOneOfIt() {
        assertThat(order(
                        request("com.example.Exports.run(java.lang.String)", "Exports.run"),
                        request("com.example.Outer$Exports", "Outer.Exports"),
                        request("z-1", "z")))
                .containsExactly("z-1", "com.example.Exports.run(java.lang.String)", "com.example.Outer$Exports");
        assertThat(order(request("a.xExports.run()", "Exports.run"), request("z-1", "z")))
                .containsExactly("a.xExports.run()", "z-1");
    }

    @Test
    void anOuterPermitOfAnotherKindMovesNoPermit() {
        List<PermitRequest> asked = List.of(request("p-1", "p"), request("q-1", "q"), request("total", "total"));
        List<String> before = order(asked);
        within.put("q", "total");
        assertThat(order(asked)).isEqualTo(before).containsExactly("p-1", "q-1", "total");
    }

    @Test
    void aPermitPrecedesTheOneThatItLiesWithin() {
        within.put("a", "b");
        within.put("z", "b");
        within.put("b", "root");
        assertThat(order(request("a", "a"))).containsExactly("a", "b", "root");
        assertThat(order(request("z", "z"), request("a", "a"))).containsExactly("a", "z", "b", "root");
        // with one key, within a permit with many
        manyKeys.add("b");
        assertThat(order(request("z", "z"), request("b-1", "b"))).containsExactly("z", "b-1", "root");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> order(request("z", "z")))
                .withMessageContaining("whose key is made for each call")
                .withMessageContaining("z within b");
    }

    @Test
    void circlesAndLongChainsAreRefused() {
        within.put("a", "b");
        within.put("b", "a");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> order(request("a", "a"), request("b", "b")))
                .withMessageContaining("in a circle: a within b within a");
        for (int i = 1; i < 9; i++) {
            within.put("n" + i, "n" + (i + 1));
        }
        assertThat(order(request("n2", "n2"))).hasSize(8);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> order(request("n1", "n1")))
                .withMessageContaining("More than 8 permits lie within each other: n1 within n2");
    }

    /** Two calls that share two keys take them in the same order, whatever else they take. */
    @Test
    void theOrderOfTwoKeysIsTheSameInAllCalls() {
        Random random = new Random(37);
        for (int run = 0; run < 2_000; run++) {
            within.clear();
            manyKeys.clear();
            List<String> names = new ArrayList<>(List.of("a", "b", "c", "d", "e", "f"));
            Collections.shuffle(names, random);
            for (int i = 0; i + 1 < names.size(); i++) {
                if (random.nextBoolean()) {
                    within.put(names.get(i), names.get(i + 1 + random.nextInt(names.size() - i - 1)));
                }
                if (random.nextInt(3) == 0) {
                    manyKeys.add(names.get(i));
                }
            }
            Map<List<String>, Boolean> seen = new HashMap<>();
            for (int call = 0; call < 20; call++) {
                List<PermitRequest> asked = new ArrayList<>();
                for (String name : names) {
                    boolean stated = manyKeys.contains(name) || random.nextBoolean();
                    if (stated) {
                        asked.add(request(manyKeys.contains(name) ? key(name, random) : name, name));
                    }
                }
                if (asked.isEmpty()) {
                    continue;
                }
                Collections.shuffle(asked, random);
                List<String> order = order(asked);
                for (int i = 0; i < order.size(); i++) {
                    for (int j = i + 1; j < order.size(); j++) {
                        assertThat(seen)
                                .as("%s of %s", order, within)
                                .doesNotContainKey(List.of(order.get(j), order.get(i)));
                        seen.put(List.of(order.get(i), order.get(j)), true);
                    }
                }
                within.forEach((inner, outer) -> {
                    int at = indexOf(order, inner);
                    assertThat(at < 0 || at < indexOf(order, outer))
                            .as("%s of %s", order, within)
                            .isTrue();
                });
            }
        }
    }

    /** One of many, as users name their tenants: also after the permit. */
    private static String key(String name, Random random) {
        return List.of(name + "-1", name, "x." + name).get(random.nextInt(3));
    }

    private static int indexOf(List<String> keys, String name) {
        return Math.max(keys.indexOf(name), Math.max(keys.indexOf(name + "-1"), keys.indexOf("x." + name)));
    }

    private static PermitRequest request(String key, String name) {
        return PermitRequest.builder(key).name(name).build();
    }

    private List<String> order(PermitRequest... requests) {
        return order(List.of(requests));
    }

    private List<String> order(List<PermitRequest> requests) {
        return TakingOrder.of(Named::new, requests).stream()
                .map(step -> step.request().key())
                .toList();
    }

    /** The names and what they lie within, without permits. */
    private final class Named implements NamedPermits {

        private final String name;

        Named(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public @Nullable PermitDefinition within() {
            String outer = within.get(name);
            return outer == null
                    ? null
                    : PermitDefinition.named(outer, "test")
                            .key(manyKeys.contains(outer) ? null : outer)
                            .limit(9)
                            .build();
        }

        @Override
        public Permit acquire(PermitRequest request) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Permit acquireUninterruptibly(PermitRequest request) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<PermitState> stateAsync(String key) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<Permit> acquireAsync(PermitRequest request) {
            throw new UnsupportedOperationException();
        }
    }
}
