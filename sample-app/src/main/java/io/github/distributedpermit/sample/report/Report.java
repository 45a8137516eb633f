package io.github.distributedpermit.sample.report;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.time.Duration;
import java.time.Instant;

/**
 * An exported report.
 *
 * @param id the report
 * @param instance who exported it
 * @param waitedMillis from the call to the start of the export: what the permit took
 * @param startedAt when the export itself began, to the microsecond
 * @param endedAt when the export itself ended, to the microsecond
 */
record Report(
        long id,
        String instance,
        long waitedMillis,

        @JsonFormat(pattern = Report.MICROSECONDS, timezone = "UTC")
        Instant startedAt,

        @JsonFormat(pattern = Report.MICROSECONDS, timezone = "UTC")
        Instant endedAt) {

    static final String MICROSECONDS = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'";

    static Report of(long id, String instance, Instant askedAt, Instant startedAt, Instant endedAt) {
        return new Report(id, instance, Duration.between(askedAt, startedAt).toMillis(), startedAt, endedAt);
    }
}
