package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.OddKeys;
import java.net.URI;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tuple.Tuple2;

/** The names of any key in Consul. */
class KeyNamesPropertyTest implements OddKeys {

    private static final String PREFIX = "some/prefix";

    @Property(tries = 3_000)
    void noTreeIsPartOfAnother(@ForAll("pairs") Tuple2<String, String> pair) {
        String one = KeyNames.of(PREFIX, pair.get1()).tree();
        String other = KeyNames.of(PREFIX, pair.get2()).tree();

        assertThat(one.startsWith(other)).isFalse();
        assertThat(other.startsWith(one)).isFalse();
    }

    @Property(tries = 3_000)
    void aKeyIsOneStepBelowThePrefixAndNeverAmongTheInboxes(@ForAll("keys") String key) {
        KeyNames names = KeyNames.of(PREFIX, key);

        assertThat(names.tree()).matches(PREFIX + "/[A-Za-z0-9_%~-]{1," + KeyEncoding.MAX_LENGTH + "}/");
        assertThat(names.tree()).doesNotStartWith(KeyNames.inboxes(PREFIX, "").replaceAll("/+$", ""));
        for (String name : List.of(names.guard(), names.override(), names.lockFile(), names.slot(999))) {
            assertThat(name).startsWith(names.tree());
        }
    }

    @Property(tries = 3_000)
    void pathOfAUrlLeadsToTheVeryKey(@ForAll("keys") String key) {
        String name = KeyNames.of(PREFIX, key).tree();

        assertThat(URI.create("http://localhost/v1/kv/" + PathEncoding.encode(name))
                        .getPath())
                .isEqualTo("/v1/kv/" + name);
    }
}
