package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConsulSettingsTest {

    private static final String CANARY = "canary";

    @ParameterizedTest
    @ValueSource(strings = {"canary\n", "canary\r\n", " canary", "\tcanary\n\n"})
    void whiteSpaceAroundTheTokenIsNoPartOfIt(String token) {
        assertThat(settings("http://localhost:8500", token).token()).contains(CANARY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\n"})
    void tokenOfWhiteSpaceIsNone(String token) {
        assertThat(settings("http://localhost:8500", token).token()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"canary\nX-Other: 1", "cana\u0000canary", "canary\u007f", "canary\u00e4", "canary\u4e2d"})
    void tokenThatNoHeaderCarriesIsRefusedWithoutBeingShown(String token) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> settings("http://localhost:8500", token))
                .withMessageContaining("token")
                .satisfies(e -> assertThat(e.toString()).doesNotContain(CANARY))
                .withNoCause();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"ftp://localhost:8500", "http:/canary", "localhost:8500", "//canary:8500", "http://a_b:8500"})
    void addressThatNoRequestCanBeSentToIsRefused(String address) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> settings(address, CANARY))
                .withMessageContaining("http")
                .satisfies(e -> assertThat(e.toString()).doesNotContain(CANARY));
    }

    @Test
    void schemeMayBeInCapitals() {
        assertThat(settings("HTTPS://localhost:8500", CANARY).address().getHost())
                .isEqualTo("localhost");
    }

    private static ConsulSettings settings(String address, String token) {
        return new ConsulSettings(
                URI.create(address),
                Optional.of(token),
                Optional.empty(),
                "prefix",
                ConsulLayout.SLOTS,
                Duration.ofSeconds(15),
                Duration.ofSeconds(2));
    }
}
