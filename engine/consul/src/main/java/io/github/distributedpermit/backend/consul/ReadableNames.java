package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import io.github.distributedpermit.backend.consul.TxnOutcome.Done;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The readable names of members, for operators. Each session's fence has the name of its member, which never changes, so that
 * it is read once. A name that can't be read is left out. Confined to the event loop.
 */
final class ReadableNames {

    private static final int MOST_KNOWN = 10_000;
    /** Names read for one inspection; the next one goes on with the others. */
    private static final int MOST_READ = 200;

    private final Map<String, String> known = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > MOST_KNOWN;
        }
    };
    private final ConsulApi api;
    private final String prefix;

    ReadableNames(ConsulApi api, String prefix) {
        this.api = api;
        this.prefix = prefix;
    }

    /** The names by session, without those that are not known. */
    CompletableFuture<Map<String, String>> of(Set<String> sessions) {
        List<CompletableFuture<?>> readings = new ArrayList<>();
        sessions.stream()
                .filter(session -> !known.containsKey(session))
                .limit(MOST_READ)
                .forEach(session -> readings.add(read(session)));
        return CompletableFuture.allOf(readings.toArray(CompletableFuture<?>[]::new))
                .handle((done, failure) -> {
                    Map<String, String> found = new HashMap<>(known);
                    found.keySet().retainAll(sessions);
                    return found;
                });
    }

    private CompletableFuture<?> read(String session) {
        String fence = Session.fenceKey(prefix, session);
        return api.transact(List.of(TxnOperation.getTree(fence))).thenAccept(outcome -> {
            if (outcome instanceof Done done) {
                done.tree().stream().filter(entry -> entry.key().equals(fence)).forEach(entry -> learn(session, entry));
            }
        });
    }

    private void learn(String session, KeyValue entry) {
        try {
            known.put(session, Json.object(entry.value()).text("name"));
        } catch (MalformedJsonException e) {
            // it is written by others, and a name is not worth an error
        }
    }
}
