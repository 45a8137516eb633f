package io.github.distributedpermit.sample.report;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Exports several reports one after the other. Each of them takes a permit of its own. */
@RestController
@RequestMapping("/reports")
class BatchController {

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
}
