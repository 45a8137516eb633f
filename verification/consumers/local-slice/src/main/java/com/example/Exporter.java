package com.example;

import io.github.distributedpermit.DistributedPermit;
import org.springframework.stereotype.Service;

@Service
class Exporter {

    @DistributedPermit(key = "export-#{#tenant}", name = "export", limit = 2)
    public String export(String tenant) {
        return "exported for " + tenant;
    }
}
