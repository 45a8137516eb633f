package io.github.distributedpermit.harness.member;

/**
 * What load a member makes.
 *
 * @param seed of all chance
 * @param threads how many calls at once
 * @param keys how many keys they share
 * @param minHoldMicros how long a call holds its permit at least
 * @param maxHoldMicros and at most
 * @param timeoutMillis how long a call waits
 * @param tries how many of a hundred calls do not wait
 * @param races how many of a hundred calls are cancelled or interrupted at any moment
 */
public record Orders(
        long seed,
        int threads,
        int keys,
        int minHoldMicros,
        int maxHoldMicros,
        int timeoutMillis,
        int tries,
        int races) {

    /** As words of a command. */
    public String asText() {
        return "%d %d %d %d %d %d %d %d"
                .formatted(seed, threads, keys, minHoldMicros, maxHoldMicros, timeoutMillis, tries, races);
    }

    static Orders parse(String[] words, int from) {
        return new Orders(
                Long.parseLong(words[from]),
                Integer.parseInt(words[from + 1]),
                Integer.parseInt(words[from + 2]),
                Integer.parseInt(words[from + 3]),
                Integer.parseInt(words[from + 4]),
                Integer.parseInt(words[from + 5]),
                Integer.parseInt(words[from + 6]),
                Integer.parseInt(words[from + 7]));
    }

    /** The same with another seed. */
    public Orders withSeed(long other) {
        return new Orders(other, threads, keys, minHoldMicros, maxHoldMicros, timeoutMillis, tries, races);
    }
}
