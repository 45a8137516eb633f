package io.github.distributedpermit.core.member;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InstancesTest {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE - 1, Integer.MAX_VALUE})
    void theSharesOfAllInstancesAreTheLimit(int hashOfKey) {
        for (int instances = 1; instances < 20; instances++) {
            for (int limit = 0; limit < 40; limit++) {
                int all = instances;
                int of = limit;
                assertThat(IntStream.range(0, all)
                                .map(index -> Instances.share(index, all, hashOfKey, of))
                                .sum())
                        .isEqualTo(limit);
            }
        }
    }
}
