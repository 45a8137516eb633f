package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.OddKeys;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tuple.Tuple2;
import org.apache.zookeeper.common.PathUtils;

/** The names of any key in ZooKeeper. */
class NamesPropertyTest implements OddKeys {

    private static final String ROOT = "/some/prefix";

    @Property(tries = 3_000)
    void everyKeyMakesAPathOneStepBelowTheRoot(@ForAll("keys") String key) {
        String path = Names.keyPath(ROOT, key);

        assertThatNoException().isThrownBy(() -> PathUtils.validatePath(path));
        assertThat(path).matches(ROOT + "/[A-Za-z0-9_%~-]{1," + KeyEncoding.MAX_LENGTH + "}");
    }

    @Property(tries = 3_000)
    void differentKeysHaveDifferentPaths(@ForAll("pairs") Tuple2<String, String> pair) {
        assertThat(Names.keyPath(ROOT, pair.get1())).isNotEqualTo(Names.keyPath(ROOT, pair.get2()));
    }
}
