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
        assertThat(settings("http://localhost:8500", token).currentToken()).contains(CANARY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\n"})
    void tokenOfWhiteSpaceIsNone(String token) {
        assertThat(settings("http://localhost:8500", token).currentToken()).isEmpty();
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

    /** Consul 1.21.5 answers 500 to reads of other keys; all versions take a dot or two for steps of a path. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "a b",
                "a:b",
                "a%2Fb",
                "a~b",
                "caf\u00e9",
                "a\nb",
                "..",
                "a/../b",
                "a/./b",
                ".inbox",
                "a/.b"
            })
    void prefixThatAVersionOfConsulRefusesIsRefused(String prefix) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConsulSettings.of(URI.create("http://localhost:8500"), prefix))
                .withMessageContaining("prefix");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "/a/b/", "team-1/app_2", "v1.2,x?y&z=1"})
    void prefixThatAllVersionsTakeIsTaken(String prefix) {
        assertThat(ConsulSettings.of(URI.create("http://localhost:8500"), prefix)
                        .prefix())
                .isEqualTo(prefix.replaceAll("^/|/$", ""));
    }

    private static ConsulSettings settings(String address, String token) {
        return new ConsulSettings(
                URI.create(address),
                () -> Optional.of(token),
                Optional.empty(),
                "prefix",
                ConsulLayout.SLOTS,
                Duration.ofSeconds(15),
                Duration.ofSeconds(2));
    }
}
