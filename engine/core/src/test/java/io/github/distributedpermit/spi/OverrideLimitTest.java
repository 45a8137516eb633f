package io.github.distributedpermit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OverrideLimitTest {

    /** A newer version may write other terms, and an operator the number alone. */
    @ParameterizedTest
    @ValueSource(strings = {"5", "5;", "5;1;2;anna", "5;x;2;anna;deploy", "5;1;2;anna;%", "5;1;2;anna;deploy;more"})
    void numberIsReadWhateverFollowsIt(String text) {
        assertThat(OverrideLimit.parse(text).getAsInt()).isEqualTo(5);
    }
}
