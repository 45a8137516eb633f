package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.harness.history.EventLog;
import io.github.distributedpermit.harness.history.Metronome;
import io.github.distributedpermit.harness.member.Orders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/** The members of a run. Confined to the master's thread. */
public final class Crew implements AutoCloseable {

    private final Path folder;
    private final int capacity;
    private final EventLog log;
    private final List<Metronome> metronomes;
    private final List<String> classes;
    private final IntFunction<List<String>> settings;
    private final Orders orders;
    private final List<MemberProcess> all = new ArrayList<>();
    private final List<MemberProcess> loaded = new ArrayList<>();

    /**
     * Starts no process yet.
     *
     * @param folder for the history and the members' output
     * @param capacity how many calls the history has room for
     * @param patches see {@link MemberClasses#options}
     * @param settings the settings of the member of that number
     */
    public Crew(Path folder, int capacity, List<Path> patches, IntFunction<List<String>> settings, Orders orders) {
        this.folder = folder;
        this.capacity = capacity;
        this.classes = MemberClasses.options(patches);
        this.settings = settings;
        this.orders = orders;
        try {
            this.log = EventLog.open(history(), capacity);
            this.metronomes = Metronome.startOnEachProcessor(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** For all that the run leaves behind. */
    public Path folder() {
        return folder;
    }

    /** The file of the history. */
    public Path history() {
        return folder.resolve("history");
    }

    /** What they do. */
    public EventLog log() {
        return log;
    }

    /** Starts a member, which does nothing yet. */
    public MemberProcess start() throws Exception {
        return start(Map.of());
    }

    /** Starts a member with another wall clock, which does nothing yet. */
    public MemberProcess start(WrongClock clock) throws Exception {
        return start(clock.environment());
    }

    private MemberProcess start(Map<String, String> environment) throws Exception {
        MemberProcess member = begin(environment);
        member.awaitAnswer();
        return member;
    }

    private MemberProcess begin(Map<String, String> environment) {
        int number = all.size();
        Path output = outputOf(number);
        MemberProcess member =
                new MemberProcess(number, history(), capacity, output, classes, settings.apply(number), environment);
        all.add(member);
        return member;
    }

    private Path outputOf(int number) {
        return folder.resolve("member-" + number + ".log");
    }

    /** What it has logged. */
    public String output(MemberProcess member) {
        try {
            return Files.readString(outputOf(member.number()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts so many and gives them their orders. */
    public void start(int members) throws Exception {
        List<MemberProcess> begun = new ArrayList<>();
        for (int i = 0; i < members; i++) {
            begun.add(begin(Map.of()));
        }
        for (MemberProcess member : begun) {
            member.awaitAnswer();
        }
        for (MemberProcess member : begun) {
            load(member);
        }
    }

    /** Gives it its orders. */
    public void load(MemberProcess member) throws Exception {
        member.ask("load " + orders.asText());
        loaded.add(member);
    }

    /** Those that make load. */
    public List<MemberProcess> loaded() {
        return List.copyOf(loaded);
    }

    /** It no longer counts. */
    public void forget(MemberProcess gone) {
        loaded.remove(gone);
    }

    /** It counts again. */
    public void remember(MemberProcess back) {
        loaded.add(back);
    }

    /** All stop calling; returns how many threads did not end. */
    public int halt() throws Exception {
        int left = 0;
        for (MemberProcess member : loaded) {
            member.tell("halt");
        }
        for (MemberProcess member : loaded) {
            left += Integer.parseInt(member.awaitAnswer().split(" ")[1]);
        }
        return left;
    }

    /** All that are left leave in order. */
    public void quit() throws Exception {
        for (MemberProcess member : all) {
            if (member.isAlive()) {
                member.quit();
            }
        }
        loaded.clear();
    }

    @Override
    public void close() {
        all.forEach(MemberProcess::close);
        metronomes.forEach(Metronome::close);
    }
}
