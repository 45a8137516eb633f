package io.github.distributedpermit.sample.report;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Exports several reports, one after the other or at the same time. Each of them takes a permit of its own. */
@RestController
@RequestMapping("/reports")
class BatchController {

    private static final int MOST_CALLS = 100;

    private final Executor threads = new SimpleAsyncTaskExecutor("call-");
    private final ReportService reports;

    BatchController(ReportService reports) {
        this.reports = reports;
    }

    @PostMapping
    List<Report> export(
            @RequestParam List<Long> ids,
            @RequestParam(defaultValue = "500ms") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration hold)
            throws InterruptedException {
        Instant askedAt = Instant.now();
        Duration checked = ReportController.checked(hold);
        List<Report> exported = new ArrayList<>();
        for (long id : ids) {
            exported.add(reports.export(id, checked, askedAt));
        }
        return exported;
    }

    /** Makes so many calls at the same time, as many users would; answers how many of them got a report. */
    @PostMapping("/calls")
    long calls(
            @RequestParam int count,
            @RequestParam(defaultValue = "500ms") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration hold) {
        if (count < 1 || count > MOST_CALLS) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "count has to be from 1 to " + MOST_CALLS);
        }
        Instant askedAt = Instant.now();
        Duration checked = ReportController.checked(hold);
        List<CompletableFuture<Boolean>> calls = IntStream.rangeClosed(1, count)
                .mapToObj(id -> CompletableFuture.supplyAsync(() -> isExported(id, checked, askedAt), threads))
                .toList();
        return calls.stream().filter(CompletableFuture::join).count();
    }

    private boolean isExported(long id, Duration hold, Instant askedAt) {
        try {
            reports.export(id, hold, askedAt);
            return true;
        } catch (RuntimeException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
