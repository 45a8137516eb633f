package io.github.distributedpermit.sample.report;

import java.time.Duration;
import java.time.Instant;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;

/** {@code hold} says how long an export takes, such as {@code 500ms} or {@code 2s}. */
@RestController
@RequestMapping("/reports/{id}")
class ReportController {

    private static final Duration LONGEST = Duration.ofSeconds(60);

    private final ReportService reports;
    private final PreviewService previews;

    ReportController(ReportService reports, PreviewService previews) {
        this.reports = reports;
        this.previews = previews;
    }

    @PostMapping
    Report export(
            @PathVariable long id,
            @RequestParam(defaultValue = "500ms") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration hold)
            throws InterruptedException {
        Instant askedAt = Instant.now();
        return reports.export(id, checked(hold), askedAt);
    }

    @PostMapping("/now")
    Report exportNow(
            @PathVariable long id,
            @RequestParam(defaultValue = "500ms") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration hold)
            throws InterruptedException {
        Instant askedAt = Instant.now();
        return reports.exportNow(id, checked(hold), askedAt);
    }

    @PostMapping("/for/{tenant}")
    Report exportFor(
            @PathVariable long id,
            @PathVariable String tenant,
            @RequestParam(defaultValue = "500ms") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration hold)
            throws InterruptedException {
        Instant askedAt = Instant.now();
        return reports.exportFor(tenant, id, checked(hold), askedAt);
    }

    @GetMapping("/preview")
    Mono<Report> preview(
            @PathVariable long id,
            @RequestParam(defaultValue = "500ms") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration hold) {
        return previews.preview(id, checked(hold), Instant.now());
    }

    static Duration checked(Duration hold) {
        if (hold.isNegative() || hold.compareTo(LONGEST) > 0) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, "hold has to be between 0s and " + LONGEST.toSeconds() + "s");
        }
        return hold;
    }
}
