package io.github.distributedpermit.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** How busy others keep the machine meanwhile: all processor time but that of this process and its children. Linux only. */
final class ForeignLoad {

    private static final double TICKS_PER_SECOND = 100;
    private static final int USER_TIME = 13;

    private final long start = System.nanoTime();
    private final double foreign;

    private ForeignLoad(double foreign) {
        this.foreign = foreign;
    }

    static ForeignLoad begin() {
        return new ForeignLoad(foreign());
    }

    /** Cores that others kept busy since the beginning. */
    String end() {
        double seconds = (System.nanoTime() - start) / 1e9;
        double cores = (foreign() - foreign) / TICKS_PER_SECOND / seconds;
        return Double.isNaN(cores) ? "unknown" : String.format(Locale.ROOT, "%.2f cores", Math.max(0, cores));
    }

    private static double foreign() {
        try {
            double own = ticks(ProcessHandle.current().pid(), true);
            for (ProcessHandle child : ProcessHandle.current().descendants().toList()) {
                own += ticks(child.pid(), false);
            }
            return busy() - own;
        } catch (IOException e) {
            return Double.NaN;
        }
    }

    private static double busy() throws IOException {
        String[] fields =
                Files.readAllLines(Path.of("/proc/stat")).get(0).trim().split("\\s+");
        double sum = 0;
        for (int i = 1; i <= 8; i++) {
            boolean idle = i == 4 || i == 5;
            sum += idle ? 0 : Double.parseDouble(fields[i]);
        }
        return sum;
    }

    /** Of a process; {@code withDead} adds its children that have ended. */
    private static double ticks(long pid, boolean withDead) throws IOException {
        Path file = Path.of("/proc", Long.toString(pid), "stat");
        if (!Files.exists(file)) {
            return 0; // it has just ended
        }
        String stat = Files.readString(file);
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        double sum = 0;
        for (int i = 0; i < (withDead ? 4 : 2); i++) {
            sum += Double.parseDouble(fields[USER_TIME - 2 + i]);
        }
        return sum;
    }
}
