package com.example;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Calls a limited method within its transaction, so that it waits for the permit with a connection of the pool. */
@Service
class OrderService {

    private final Exports exports;
    private final ReportService reports;

    OrderService(Exports exports, ReportService reports) {
        this.exports = exports;
        this.reports = reports;
    }

    @Transactional
    public void order(String name) {
        exports.saveAndFlush(new Export(name));
        reports.report(name);
    }
}
