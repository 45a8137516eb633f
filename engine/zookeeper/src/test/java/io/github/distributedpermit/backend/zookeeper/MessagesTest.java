package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MessagesTest {

    @ParameterizedTest
    @EnumSource(
            value = KeeperException.Code.class,
            names = {"NOAUTH", "CONNECTIONLOSS"})
    void keysStandInMessagesAsTheyStandInNames(KeeperException.Code code) {
        assertThat(Faults.translate("a\nb", KeeperException.create(code)))
                .hasMessageContaining("'a%0Ab'")
                .hasMessageNotContaining("\n");
    }
}
