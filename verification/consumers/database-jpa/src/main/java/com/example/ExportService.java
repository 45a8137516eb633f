package com.example;

import io.github.distributedpermit.DistributedPermit;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** At most one export runs at the same time, on all instances together. */
@Service
class ExportService {

    private final Exports exports;

    ExportService(Exports exports) {
        this.exports = exports;
    }

    @Transactional
    @DistributedPermit(key = "export", limit = 1, block = false)
    public void export(String name) {
        exports.save(new Export(name));
    }
}
