package io.github.distributedpermit.core.engine;

import io.github.distributedpermit.core.key.PermitName;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Names that are made at run time and have their settings from a pattern. They are held weakly: calls, queues and
 * {@code NamedPermits} hold the name that they use, and one that none of them uses is made again when it is needed. So
 * their number is bounded by what is in use. A name that has lost its limit is kept as long as it is in use, so that it is
 * the same one if it gets a limit again; until then it is not found. Thread-safe.
 */
final class DynamicNames {

    private final Map<String, Entry> entries = new ConcurrentHashMap<>();
    private final ReferenceQueue<PermitName> unused = new ReferenceQueue<>();

    /** The name, if it has a limit. */
    @Nullable
    PermitName get(String name) {
        Entry entry = entries.get(name);
        return entry == null || !entry.limited ? null : entry.get();
    }

    /** The name, with or without a limit. */
    @Nullable
    PermitName kept(String name) {
        Entry entry = entries.get(name);
        return entry == null ? null : entry.get();
    }

    /** Notes whether the name has a limit. */
    void limited(String name, boolean limited) {
        Entry entry = entries.get(name);
        if (entry != null) {
            entry.limited = limited;
        }
    }

    void put(PermitName permit) {
        removeUnused();
        entries.put(permit.name(), new Entry(permit, unused));
    }

    void remove(String name) {
        entries.remove(name);
    }

    /** Those with a limit that are in use, and perhaps some that are not any more. */
    List<PermitName> all() {
        return all(entry -> entry.limited);
    }

    /** The same, with those that have lost their limit. */
    List<PermitName> allKept() {
        return all(entry -> true);
    }

    private List<PermitName> all(Predicate<Entry> which) {
        removeUnused();
        List<PermitName> all = new ArrayList<>();
        for (Entry entry : entries.values()) {
            PermitName permit = entry.get();
            if (permit != null && which.test(entry)) {
                all.add(permit);
            }
        }
        return all;
    }

    private void removeUnused() {
        for (var entry = unused.poll(); entry != null; entry = unused.poll()) {
            entries.remove(((Entry) entry).name, entry);
        }
    }

    private static final class Entry extends WeakReference<PermitName> {

        private final String name;
        private volatile boolean limited = true;

        Entry(PermitName permit, ReferenceQueue<PermitName> unused) {
            super(permit, unused);
            this.name = permit.name();
        }
    }
}
