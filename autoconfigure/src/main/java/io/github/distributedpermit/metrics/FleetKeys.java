package io.github.distributedpermit.metrics;

import io.github.distributedpermit.spi.KeyDirectory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The keys that one refresh inspects: at most a given number over all names, taken from the names in turn, so that one name with
 * many keys does not crowd out the others. Confined to one thread.
 */
final class FleetKeys {

    /** A key and the name of its permit. */
    record Key(String name, String key) {}

    private final int most;
    private final Map<String, Set<String>> byName = new LinkedHashMap<>();
    private final Map<String, Integer> notListed = new LinkedHashMap<>();

    private FleetKeys(int most) {
        this.most = most;
    }

    static FleetKeys of(KeyDirectory directory, int most) {
        FleetKeys keys = new FleetKeys(most);
        directory.forEachKey(keys::add);
        return keys;
    }

    private void add(String name, String key) {
        Set<String> keys = byName.computeIfAbsent(name, each -> new LinkedHashSet<>());
        if (keys.size() < most) {
            keys.add(key);
        } else if (!keys.contains(key)) {
            notListed.merge(name, 1, Integer::sum);
        }
    }

    /** The keys to inspect. */
    List<Key> chosen() {
        List<Key> chosen = new ArrayList<>();
        List<Map.Entry<String, List<String>>> names = new ArrayList<>();
        byName.forEach((name, keys) -> names.add(Map.entry(name, List.copyOf(keys))));
        for (int turn = 0; turn < most && chosen.size() < most; turn++) {
            for (Map.Entry<String, List<String>> each : names) {
                if (turn < each.getValue().size() && chosen.size() < most) {
                    chosen.add(new Key(each.getKey(), each.getValue().get(turn)));
                }
            }
        }
        return chosen;
    }

    /** How many keys of each name are in use. */
    Map<String, Integer> inUse() {
        Map<String, Integer> counts = new LinkedHashMap<>(notListed);
        byName.forEach((name, keys) -> counts.merge(name, keys.size(), Integer::sum));
        return counts;
    }
}
