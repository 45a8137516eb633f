package io.github.distributedpermit.benchmark.report;

import io.github.distributedpermit.benchmark.load.Quartiles;

/**
 * An absolute figure of one contender, without a mark: good within this run only.
 *
 * @param workload under which load
 * @param contender whose
 * @param metric what was measured
 * @param value median and quartiles over the rounds
 */
public record Figure(String workload, String contender, String metric, Quartiles value) {}
