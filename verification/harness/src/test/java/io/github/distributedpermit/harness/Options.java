package io.github.distributedpermit.harness;

import io.github.distributedpermit.harness.fleet.AnotherRedis;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the command line says.
 *
 * @param names of scenarios or planted mistakes, none for all
 * @param mutants whether mistakes are planted
 * @param hits how many, 0 for the long form
 * @param seed of all chance
 * @param record whether the table is brought up to date
 * @param list whether only names are wanted
 * @param redis in the place of the embedded one, or {@code null}
 * @param atOnce how many scenarios run at the same time
 * @param soak how long to soak, {@code null} for not at all
 */
record Options(
        List<String> names,
        boolean mutants,
        int hits,
        long seed,
        boolean record,
        boolean list,
        @Nullable AnotherRedis redis,
        int atOnce,
        @Nullable Duration soak) {

    static Options parse(String[] arguments) {
        Deque<String> words = new ArrayDeque<>(List.of(arguments));
        List<String> names = new ArrayList<>();
        boolean mutants = false;
        int hits = 0;
        long seed = System.nanoTime() % 1_000_000;
        boolean record = false;
        boolean list = false;
        AnotherRedis redis = null;
        int atOnce = 1;
        Duration soak = null;
        while (!words.isEmpty()) {
            String word = words.pop();
            switch (word) {
                case "--hits" -> hits = Integer.parseInt(words.pop());
                case "--seed" -> seed = Long.parseLong(words.pop());
                case "--mutants" -> mutants = true;
                case "--record" -> record = true;
                case "--soak" -> soak = Duration.parse("PT" + words.pop());
                case "--list" -> list = true;
                case "--at-once" -> atOnce = Integer.parseInt(words.pop());
                case "--redis" -> redis = AnotherRedis.named(words.pop());
                default -> names.add(word);
            }
        }
        return new Options(names, mutants, hits, seed, record, list, redis, atOnce, soak);
    }
}
