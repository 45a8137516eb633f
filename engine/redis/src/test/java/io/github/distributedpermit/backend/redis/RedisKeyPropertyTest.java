package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.OddKeys;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tuple.Tuple2;

/** Properties of the names that any key has in Redis. */
class RedisKeyPropertyTest implements OddKeys {

    private static final String PREFIX = "some:prefix";

    @Property(tries = 3_000)
    void allNamesOfAKeyAreInTheSlotOfItsEncodedForm(@ForAll("keys") String key) {
        Set<Integer> slots = Arrays.stream(RedisKey.of(PREFIX, key).names())
                .map(SlotHash::getSlot)
                .collect(Collectors.toSet());

        assertThat(slots).containsExactly(SlotHash.getSlot(KeyEncoding.encode(key)));
    }

    @Property(tries = 3_000)
    void noNameOfAKeyIsOneOfAnother(@ForAll("pairs") Tuple2<String, String> pair) {
        Set<String> both = new HashSet<>(names(pair.get1()));
        both.addAll(names(pair.get2()));

        assertThat(both).hasSize(2 * names(pair.get1()).size());
    }

    /** The script derives the channel from the prefix, and sends the key. */
    @Property(tries = 3_000)
    void prefixAndKeyCanBeReadFromAName(@ForAll("keys") String key) {
        var parts = Pattern.compile("^(.*):\\{(.*)}:state$").matcher(names(key).get(0));

        assertThat(parts.matches()).isTrue();
        assertThat(parts.group(1)).isEqualTo(PREFIX);
        assertThat(parts.group(2)).isEqualTo(KeyEncoding.encode(key));
    }

    @Property(tries = 3_000)
    void everyNameBeginsWithThePrefixAndIsShort(@ForAll("keys") String key) {
        assertThat(names(key))
                .allMatch(name -> name.startsWith(PREFIX + ":{"))
                .allMatch(name -> name.length() <= PREFIX.length() + KeyEncoding.MAX_LENGTH + 16);
    }

    private static List<String> names(String key) {
        return Arrays.stream(RedisKey.of(PREFIX, key).names())
                .map(name -> new String(name, StandardCharsets.UTF_8))
                .toList();
    }
}
