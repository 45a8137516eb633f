package io.github.distributedpermit.core.engine;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.key.NameCounts;
import io.github.distributedpermit.core.member.KeySurvey;
import io.github.distributedpermit.spi.PermitGauges;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** The gauges of one name: its counts, and what a survey of all keys finds. Thread-safe. */
final class NameGauges implements PermitGauges {

    private final NameCounts counts;
    private final Supplier<Optional<KeySurvey>> survey;

    /** @param survey that of the present membership, if there is one */
    NameGauges(NameCounts counts, Supplier<Optional<KeySurvey>> survey) {
        this.counts = counts;
        this.survey = survey;
    }

    @Override
    public String name() {
        return counts.name();
    }

    @Override
    public int holders() {
        return counts.holders();
    }

    @Override
    public int withoutStore() {
        return counts.withoutStore();
    }

    @Override
    public int waiters() {
        return counts.waiters();
    }

    @Override
    public int limit() {
        int limit = counts.limit();
        boolean paused = limit != PermitDefinition.UNLIMITED
                && survey.get().filter(keys -> keys.isPaused(counts)).isPresent();
        return paused ? 0 : limit;
    }

    @Override
    public int runningLost() {
        return survey.get().map(keys -> keys.runningLost(counts)).orElse(0);
    }

    @Override
    public int fairGroups() {
        return survey.get().map(keys -> keys.fairGroups(counts)).orElse(0);
    }

    @Override
    public Optional<LongestCall> longestWait() {
        return survey.get().flatMap(keys -> keys.longestWait(counts));
    }

    @Override
    public Optional<LongestCall> longestHold() {
        return survey.get().flatMap(keys -> keys.longestHold(counts));
    }

    @Override
    public Optional<Duration> shortestHold() {
        return survey.get().flatMap(keys -> keys.shortestHold(counts));
    }
}
