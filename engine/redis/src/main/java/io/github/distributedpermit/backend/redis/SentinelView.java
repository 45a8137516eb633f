package io.github.distributedpermit.backend.redis;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Decides which server is the master from the answers of several Sentinels. The newest configuration counts, as it does
 * among the Sentinels: an epoch belongs to the fail-over that a majority of them voted for. Among answers of one epoch the
 * most frequent address counts. Sentinels with an older epoch than one seen before have missed a fail-over; they count only
 * if they are more than half of those configured, as after a new installation. Not thread-safe.
 */
final class SentinelView {

    /** Below every epoch, so that any known one is newer. */
    static final long UNKNOWN_EPOCH = -1;

    /** How many are configured. */
    private final int sentinels;

    private long newestEpoch = UNKNOWN_EPOCH;
    /** What was decided last. */
    private Optional<Master> master = Optional.empty();

    SentinelView(int sentinels) {
        this.sentinels = sentinels;
    }

    /** The newest configuration so far; {@link #UNKNOWN_EPOCH} if none is known. */
    long newestEpoch() {
        return newestEpoch;
    }

    /** Applies the present answers, at most one for each Sentinel. Returns the master, if one is known. */
    Optional<Master> decide(List<Answer> answers) {
        if (answers.isEmpty()) {
            return master;
        }
        long newest = answers.stream().mapToLong(Answer::epoch).max().orElse(UNKNOWN_EPOCH);
        // These Sentinels have missed a fail-over. To follow them would lead back to the former master.
        if (newest < newestEpoch && answers.size() <= sentinels / 2) {
            return master;
        }
        newestEpoch = newest;
        List<Master> named = answers.stream()
                .filter(answer -> answer.epoch() == newest)
                .map(Answer::master)
                .toList();
        // the present master is first, so that it stays if another address is named equally often
        master = Stream.concat(master.stream().filter(named::contains), named.stream())
                .distinct()
                .sorted(Comparator.comparingLong(one -> -count(named, one)))
                .findFirst();
        return master;
    }

    /** How many Sentinels name this address. */
    private static long count(List<Master> named, Master one) {
        return named.stream().filter(one::equals).count();
    }

    /**
     * The address of a master.
     *
     * @param host as the Sentinel names it
     * @param port on that host
     */
    record Master(String host, int port) {}

    /**
     * The answer of one Sentinel.
     *
     * @param master the address it gives to clients
     * @param epoch of its configuration; {@link #UNKNOWN_EPOCH} without the right to read it
     */
    record Answer(Master master, long epoch) {}
}
