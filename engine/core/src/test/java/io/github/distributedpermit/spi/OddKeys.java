package io.github.distributedpermit.spi;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.Tuple.Tuple2;

/** Keys as unkind users choose them, for properties. */
public interface OddKeys {

    /** What names in stores give a meaning, and what is no whole character. */
    String SPECIAL = "aZ09-_~%u. /\\:{}[]?*+'\"\n\r\t\u0000\u007fäß日\u0308\u2028\ud83d\ude00\ud83d\ufffd";

    /** Any text of 1 to 600 UTF-16 units, unpaired surrogates included; many with what names in stores give a meaning. */
    @Provide
    default Arbitrary<String> keys() {
        return Arbitraries.frequencyOf(
                Tuple.of(
                        4,
                        Arbitraries.strings().withChars(SPECIAL).ofMinLength(1).ofMaxLength(12)),
                Tuple.of(2, Arbitraries.strings().all().ofMinLength(1).ofMaxLength(12)),
                Tuple.of(
                        1,
                        Arbitraries.strings().withChars(SPECIAL).ofMinLength(30).ofMaxLength(600)),
                Tuple.of(1, aroundTheBound()));
    }

    /** Two different keys, many of them near misses: one is the other, encoded, cut, extended or changed in one place. */
    @Provide
    default Arbitrary<Tuple2<String, String>> pairs() {
        Arbitrary<Tuple2<String, String>> any =
                Combinators.combine(keys(), keys()).as(Tuple::of);
        Arbitrary<Tuple2<String, String>> near = Combinators.combine(
                        keys(),
                        Arbitraries.integers().between(0, 4),
                        Arbitraries.chars().with(SPECIAL.toCharArray()),
                        Arbitraries.integers().between(0, 1_000_000))
                .as((key, way, c, at) -> Tuple.of(key, changed(key, way, c, at % key.length())));
        return Arbitraries.oneOf(any, near).filter(pair -> !pair.get1().equals(pair.get2()));
    }

    private static Arbitrary<String> aroundTheBound() {
        return Combinators.combine(
                        Arbitraries.integers().between(KeyEncoding.MAX_LENGTH - 8, KeyEncoding.MAX_LENGTH + 8),
                        Arbitraries.strings().withChars("k%~A").ofMaxLength(3))
                .as((length, end) -> "k".repeat(length) + end);
    }

    private static String changed(String key, int way, char c, int at) {
        return switch (way) {
            case 0 -> KeyEncoding.encode(key);
            case 1 -> at == 0 ? key + key : key.substring(0, at);
            case 2 -> key + c;
            case 3 -> c + key;
            default -> key.substring(0, at) + c + key.substring(at + 1);
        };
    }
}
