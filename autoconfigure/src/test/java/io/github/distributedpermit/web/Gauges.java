package io.github.distributedpermit.web;

import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.PermitObserver;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** How many calls wait in an application, and how many hold permits, without taking one to find out. */
final class Gauges implements PermitObserver {

    private final List<PermitGauges> names = new CopyOnWriteArrayList<>();

    @Override
    public void named(PermitGauges gauges) {
        names.add(gauges);
    }

    int waiters() {
        return names.stream().mapToInt(PermitGauges::waiters).sum();
    }

    int holders() {
        return names.stream().mapToInt(PermitGauges::holders).sum();
    }
}
