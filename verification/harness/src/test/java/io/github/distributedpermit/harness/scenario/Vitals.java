package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.Crew;
import io.github.distributedpermit.harness.fleet.MemberProcess;
import io.github.distributedpermit.harness.fleet.RedisStore;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * How much of everything there is at some time.
 *
 * @param heapKilobytes live heap of all members
 * @param threads of all members
 * @param connections to the server
 * @param keys in the store
 * @param calls so far
 */
record Vitals(long heapKilobytes, long threads, long connections, long keys, long calls) {

    static final String HEADER = "heap kB,threads,connections,store keys,calls";

    static Vitals of(Crew crew, RedisStore store) throws Exception {
        long heap = 0;
        long threads = 0;
        for (MemberProcess member : crew.loaded()) {
            String[] words = member.ask("vitals").split(" ");
            heap += Long.parseLong(words[1]);
            threads += Long.parseLong(words[2]);
        }
        long connections = store.ask(commands -> commands.info("clients"))
                .lines()
                .filter(line -> line.startsWith("connected_clients:"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
                .sum();
        long keys = store.ask(RedisCommands::dbsize);
        return new Vitals(heap, threads, connections, keys, crew.log().size());
    }

    /** What grew from the first third to the last by more than the factor. */
    static Optional<String> flat(List<Vitals> samples, double factor) {
        StringBuilder grown = new StringBuilder();
        grows(samples, Vitals::heapKilobytes, factor)
                .ifPresent(text -> grown.append(" heap kB ").append(text));
        grows(samples, Vitals::threads, factor)
                .ifPresent(text -> grown.append(" threads ").append(text));
        grows(samples, Vitals::connections, factor)
                .ifPresent(text -> grown.append(" connections ").append(text));
        grows(samples, Vitals::keys, factor)
                .ifPresent(text -> grown.append(" store keys ").append(text));
        return grown.isEmpty() ? Optional.empty() : Optional.of("grew:" + grown);
    }

    private static Optional<String> grows(List<Vitals> samples, ToLongFunction<Vitals> what, double factor) {
        int third = samples.size() / 3;
        long early = median(samples.subList(0, third), what);
        long late = median(samples.subList(samples.size() - third, samples.size()), what);
        return late > early * factor ? Optional.of(early + " to " + late) : Optional.empty();
    }

    private static long median(List<Vitals> samples, ToLongFunction<Vitals> what) {
        long[] sorted = samples.stream().mapToLong(what).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    String asText() {
        return heapKilobytes + "," + threads + "," + connections + "," + keys + "," + calls;
    }
}
