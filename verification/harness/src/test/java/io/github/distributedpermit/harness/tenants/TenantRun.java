package io.github.distributedpermit.harness.tenants;

import io.github.distributedpermit.harness.fleet.MemberClasses;
import io.github.distributedpermit.harness.fleet.Store;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * One scenario on one store, with members in JVMs of their own.
 *
 * @param scenario see {@link TenantMember}
 * @param headStart of urgent calls, in seconds
 * @param waiting calls of each member that wait; milliseconds of {@code linger} in the scenario of that name
 */
record TenantRun(String scenario, int members, int seconds, int headStart, int waiting) {

    private static final Map<String, Integer> LIMITS = Map.of(
            "user",
            1,
            "tenant",
            3,
            "all",
            8,
            "total",
            20,
            "smtp",
            4,
            "shared",
            5,
            "fixed",
            2,
            "rolling",
            TenantLoad.HIGH,
            LingerLoad.NAME,
            1);

    /** The grants of all members. An exception says that a call did not end, or that a permit is left. */
    List<Grant> on(Store store, Path folder) throws Exception {
        Files.createDirectories(folder);
        List<Process> processes = new ArrayList<>();
        List<BufferedReader> answers = new ArrayList<>();
        try {
            for (int member = 0; member < members; member++) {
                Process process = start(member, store, folder);
                processes.add(process);
                answers.add(process.inputReader());
            }
            for (BufferedReader answer : answers) {
                expect(answer, "ready");
            }
            for (Process process : processes) {
                process.getOutputStream().write('\n');
                process.getOutputStream().flush();
            }
            List<Grant> grants = new ArrayList<>();
            for (int member = 0; member < members; member++) {
                expect(answers.get(member), "ended");
                if (!processes.get(member).waitFor(60, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("Member " + member + " does not end");
                }
                grants.addAll(read(file(folder, member)));
            }
            List<String> residue = store.residue();
            if (!residue.isEmpty()) {
                throw new IllegalStateException("Left in the store: " + residue);
            }
            return grants;
        } finally {
            processes.forEach(Process::destroyForcibly);
        }
    }

    private Process start(int member, Store store, Path folder) throws IOException {
        boolean ofChains = !scenario.equals("forty");
        List<String> line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx300m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Djava.net.preferIPv4Stack=true"));
        line.addAll(MemberClasses.options(List.of()));
        line.addAll(List.of(
                TenantMember.class.getName(),
                scenario,
                String.valueOf(member),
                String.valueOf(members),
                String.valueOf(seconds),
                String.valueOf(headStart),
                String.valueOf(waiting),
                file(folder, member).toString()));
        line.addAll(store.settings(member));
        LIMITS.forEach((name, limit) -> line.add("--distributed-permit.permits." + name + ".limit=" + limit));
        if (scenario.equals(LingerLoad.NAME)) {
            line.add("--distributed-permit.permits.linger.linger=" + waiting + "ms");
        }
        line.addAll(List.of(
                "--distributed-permit.permits.user.within=tenant",
                "--distributed-permit.permits.tenant.within=" + (ofChains ? "all" : "total"),
                "--distributed-permit.redis.new-server-grace=0s",
                "--harness.tombstone=1000",
                "--harness.command-timeout=2000"));
        return new ProcessBuilder(line)
                .redirectError(ProcessBuilder.Redirect.to(
                        folder.resolve("member-" + member + ".log").toFile()))
                .start();
    }

    private static Path file(Path folder, int member) {
        return folder.resolve("member-" + member + ".grants");
    }

    private static void expect(BufferedReader answers, String answer) throws IOException {
        List<String> others = new ArrayList<>();
        for (String line = answers.readLine(); line != null; line = answers.readLine()) {
            if (line.equals(answer)) {
                return;
            }
            others.add(line);
            if (line.startsWith("failed")) {
                break;
            }
        }
        throw new IllegalStateException("A member did not say '" + answer + "' but " + others);
    }

    private static List<Grant> read(Path file) throws IOException {
        List<Grant> grants = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            while (true) {
                grants.add(Grant.read(in));
            }
        } catch (EOFException e) {
            return grants;
        }
    }

    /** The most permits of each name that were in use at once, of any key; fails if that is above its limit. */
    static Map<String, Integer> mostInUse(List<Grant> grants) {
        Map<String, Integer> most = new TreeMap<>();
        grants.stream().collect(Collectors.groupingBy(Grant::key)).forEach((key, ofKey) -> {
            String name = key.replaceAll("-.*", "");
            int found = mostAtOnce(ofKey);
            if (found > LIMITS.getOrDefault(name, 0)) {
                throw new IllegalStateException("%d permits of %s in use at once".formatted(found, key));
            }
            most.merge(name, found, Math::max);
        });
        return most;
    }

    private static int mostAtOnce(List<Grant> grants) {
        return mostAtOnce(grants, Long.MIN_VALUE, Long.MAX_VALUE);
    }

    /** The most permits that were in use at once in this time. */
    static int mostAtOnce(List<Grant> grants, long from, long to) {
        List<long[]> changes = new ArrayList<>();
        for (Grant grant : grants) {
            changes.add(new long[] {grant.granted(), 1});
            changes.add(new long[] {grant.released(), -1});
        }
        changes.sort(Comparator.<long[]>comparingLong(change -> change[0]).thenComparingLong(change -> change[1]));
        int inUse = 0;
        int most = 0;
        for (long[] change : changes) {
            inUse += (int) change[1];
            if (change[0] >= from && change[0] < to) {
                most = Math.max(most, inUse);
            }
        }
        return most;
    }

    /**
     * What a rolling change of a limit shows, in which each member records when it changed the limit. Fails if more permits than the
     * lower limit are in use that were granted although all members had stated it for a second.
     */
    static String rolling(List<Grant> grants, int members) {
        List<Grant> changes = grants.stream()
                .filter(each -> each.kind().startsWith("to "))
                .sorted(Comparator.comparingLong(Grant::granted))
                .toList();
        List<Grant> calls =
                grants.stream().filter(each -> each.kind().equals("call")).toList();
        Map<String, List<Double>> perSecond = new TreeMap<>();
        for (int last = members - 1; last + 1 < changes.size(); last += members) {
            String to = changes.get(last).kind();
            long from = changes.get(last).granted() + TimeUnit.SECONDS.toNanos(1);
            long until = changes.get(last + 1).arrived();
            int limit = to.equals("to " + TenantLoad.LOW) ? TenantLoad.LOW : TenantLoad.HIGH;
            // a member that stands still may hold for longer what it was granted before
            int most = mostAtOnce(
                    calls.stream().filter(call -> call.granted() >= from).toList(), from, until);
            if (most > limit) {
                throw new IllegalStateException(
                        "%d permits in use at once, all members state %d".formatted(most, limit));
            }
            perSecond.computeIfAbsent(to, absent -> new ArrayList<>()).add(perSecond(calls, from, until));
            long mixed = changes.get(last - members + 1).granted();
            perSecond
                    .computeIfAbsent("mixed", absent -> new ArrayList<>())
                    .add(perSecond(calls, mixed, changes.get(last).granted()));
        }
        long[] times = calls.stream().mapToLong(Grant::granted).sorted().toArray();
        long gap = 0;
        for (int i = 1; i < times.length; i++) {
            gap = Math.max(gap, times[i] - times[i - 1]);
        }
        return "calls per second, median of all phases, %s, longest time without a grant %.0f ms, waits %s"
                .formatted(
                        perSecond.entrySet().stream()
                                .map(each -> "%s: %.0f".formatted(each.getKey(), median(each.getValue())))
                                .toList(),
                        gap / 1e6,
                        waits(calls));
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }

    private static double perSecond(List<Grant> calls, long from, long to) {
        long count = calls.stream()
                .filter(each -> each.granted() >= from && each.granted() < to)
                .count();
        return count * 1e9 / (to - from);
    }

    /**
     * By how many seconds a call without a head start had arrived earlier than an urgent one that was served before it, at most. Those
     * that were not served at all count too.
     */
    static double longestOvertaking(List<Grant> grants) {
        long longest = 0;
        long latest = Long.MIN_VALUE;
        for (Grant next : inOrder(grants)) {
            if (next.kind().equals("urgent")) {
                latest = Math.max(latest, next.arrived());
            } else if (latest > next.arrived()) {
                longest = Math.max(longest, latest - next.arrived());
            }
        }
        return longest / 1e9;
    }

    /**
     * How many calls without a head start were served before one of their kind that had arrived a second earlier, at most. An instance
     * with few waiting calls may use its turn for some that came much later.
     */
    static int mostOvertaking(List<Grant> grants) {
        int most = 0;
        List<Long> served = new ArrayList<>();
        for (Grant next : inOrder(grants)) {
            if (!next.kind().equals("urgent")) {
                most = Math.max(most, served.size() - place(served, next.arrived() + TimeUnit.SECONDS.toNanos(1)));
            }
            if (next.kind().equals("bulk")) {
                served.add(place(served, next.arrived()), next.arrived());
            }
        }
        return most;
    }

    private static int place(List<Long> sorted, long value) {
        int found = Collections.binarySearch(sorted, value);
        return found < 0 ? -1 - found : found;
    }

    private static List<Grant> inOrder(List<Grant> grants) {
        return grants.stream().sorted(Comparator.comparingLong(Grant::granted)).toList();
    }

    /** The part of so many permits that was in use, on average, until the last call ended. */
    static double shareInUse(List<Grant> grants, int permits) {
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        long held = 0;
        for (Grant grant : grants) {
            first = Math.min(first, grant.granted());
            last = Math.max(last, grant.released());
            held += grant.released() - grant.granted();
        }
        return (double) held / permits / (last - first);
    }

    /** Median and longest wait of each kind of call, in milliseconds. */
    static Map<String, String> waits(List<Grant> grants) {
        Map<String, List<Double>> byKind = new HashMap<>();
        grants.forEach(grant ->
                byKind.computeIfAbsent(grant.kind(), kind -> new ArrayList<>()).add(grant.waitedMillis()));
        Map<String, String> text = new TreeMap<>();
        byKind.forEach((kind, waits) -> {
            waits.sort(null);
            text.put(
                    kind,
                    "%.1f ms (median of %d), %.1f ms (longest)"
                            .formatted(waits.get(waits.size() / 2), waits.size(), waits.get(waits.size() - 1)));
        });
        return text;
    }
}
