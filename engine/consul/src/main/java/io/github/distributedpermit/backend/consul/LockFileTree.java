package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The {@code .lock} document of HashiCorp's semaphore, the contenders beside it, and our own line, of which others know
 * nothing. A holder whose session has no key here is dead.
 *
 * @param lock the document, if there is one
 * @param lineIndex of the guard of the queue; 0 if no member waits
 * @param lineJson all of the guard, also what this version does not know
 * @param contenders of ours, by session
 * @param live sessions that have a key here, whoever they belong to
 */
record LockFileTree(
        KeyNames names,
        @Nullable Document lock,
        long lineIndex,
        JsonObject lineJson,
        OptionalInt override,
        Map<String, QueuedMember> waiting,
        Map<String, Contender> contenders,
        Set<String> live,
        long index)
        implements KeyTree {

    /** How HashiCorp marks the keys of a semaphore; an unsigned number. */
    static final long FLAGS = 0xe0f69a2baa414de0L;

    /** How HashiCorp marks the key of a lock. */
    private static final long PLAIN_LOCK_FLAGS = 0x2ddccbc058a50c18L;

    private static final Pattern SESSION = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /**
     * HashiCorp's document.
     *
     * @param holders sessions, also dead ones
     * @param json all of it, also what this version does not know
     */
    record Document(int limit, SortedSet<String> holders, long index, JsonObject json) {}

    /** @param main the session by which its member is named */
    record Contender(String session, String main, String member, int limit) {}

    static LockFileTree of(KeyNames names, List<KeyValue> tree) {
        Document lock = null;
        long line = 0;
        JsonObject lineJson = JsonObject.EMPTY;
        OptionalInt override = OptionalInt.empty();
        Map<String, QueuedMember> waiting = new HashMap<>();
        Map<String, Contender> contenders = new HashMap<>();
        Set<String> live = new HashSet<>();
        long index = 0;
        for (KeyValue entry : tree) {
            String name = entry.key().substring(names.tree().length());
            if (name.indexOf('/') >= 0) {
                continue; // of an application whose prefix begins with the name of this key
            }
            index = Math.max(index, entry.modified());
            if (entry.session() != null) {
                live.add(entry.session());
            }
            try {
                if (name.equals(KeyNames.LOCK_FILE)) {
                    lock = document(entry);
                } else if (name.equals(KeyNames.LINE)) {
                    line = entry.modified();
                    lineJson = Format.read(entry);
                } else if (name.equals(KeyNames.OVERRIDE)) {
                    override = OptionalInt.of(Json.object(entry.value()).count("limit"));
                } else if (name.startsWith(KeyNames.WAITING)) {
                    String session = name.substring(KeyNames.WAITING.length());
                    waiting.put(session, QueuedMember.of(session, entry));
                } else if (name.startsWith(KeyNames.SLOT)) {
                    throw PermitStoreException.permanent(
                            "Consul's key " + entry.key()
                                    + " belongs to layout slots; all members of a key must use one layout",
                            null);
                } else if (SESSION.matcher(name).matches()) {
                    contender(name, entry, contenders);
                }
            } catch (MalformedJsonException e) {
                throw PermitStoreException.permanent(
                        "Consul's key " + entry.key() + " is damaged or not a semaphore's; nothing was written. "
                                + "Delete it if no client needs it",
                        e);
            }
        }
        return new LockFileTree(names, lock, line, lineJson, override, waiting, contenders, live, index);
    }

    private static Document document(KeyValue entry) {
        if (entry.flags() == PLAIN_LOCK_FLAGS) {
            throw PermitStoreException.permanent(
                    "Consul's key " + entry.key() + " is a lock of 'consul lock' without -n, or with -n=1, which is no"
                            + " semaphore and cannot share a limit; nothing was written. Use 'consul lock -n=N' with the"
                            + " limit N of the permit, 2 or more, or another key. If no such command runs, delete the key",
                    null);
        }
        if (entry.flags() != FLAGS) {
            throw new MalformedJsonException("the flags are not those of a semaphore");
        }
        JsonObject json = Json.object(entry.value());
        SortedSet<String> holders =
                new TreeSet<>(json.object("Holders").members().keySet());
        return new Document(json.count("Limit"), holders, entry.modified(), json);
    }

    /** Others may write what they like as their contender's body; the command line's is empty. */
    private static void contender(String session, KeyValue entry, Map<String, Contender> contenders) {
        if (!entry.value().startsWith("{\"main\"")) {
            return;
        }
        JsonObject json = Format.read(entry);
        contenders.put(session, new Contender(session, json.text("main"), json.text("member"), json.count("limit")));
    }

    /** Holders that are alive. */
    SortedSet<String> holders() {
        SortedSet<String> alive = new TreeSet<>();
        if (lock != null) {
            alive.addAll(lock.holders());
            alive.retainAll(live);
        }
        return alive;
    }

    boolean isForeign(String session) {
        return !contenders.containsKey(session);
    }

    boolean hasForeignHolders() {
        return holders().stream().anyMatch(this::isForeign);
    }

    /** The member's sessions with a contender here. */
    SortedSet<String> contendersOf(String main) {
        SortedSet<String> sessions = new TreeSet<>();
        contenders.values().stream()
                .filter(contender -> contender.main().equals(main))
                .forEach(contender -> sessions.add(contender.session()));
        return sessions;
    }

    SortedSet<String> holdersOf(String main) {
        SortedSet<String> sessions = contendersOf(main);
        sessions.retainAll(holders());
        return sessions;
    }

    @Override
    public Optional<PermitRecord> record(String session) {
        SortedSet<String> held = holdersOf(session);
        QueuedMember queued = waiting.get(session);
        if (queued != null) {
            return Optional.of(queued.record(held.size()));
        }
        return held.stream()
                .map(contenders::get)
                .filter(Objects::nonNull)
                .map(Contender::limit)
                .max(Integer::compare)
                .map(limit -> QueuedMember.holder(session, held.size(), limit));
    }

    @Override
    public int used() {
        return holders().size();
    }

    @Override
    public int permits(String session) {
        return holdersOf(session).size();
    }

    /**
     * Only those whose first session has a key here. After a crash the sessions of a member end one after the other, and a
     * transaction that locks a key for a session that has ended fails.
     */
    @Override
    public Set<String> holdingMembers() {
        return holders().stream()
                .map(contenders::get)
                .filter(Objects::nonNull)
                .map(Contender::main)
                .filter(live::contains)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    @Override
    public Set<String> permitNames(String session) {
        return Set.copyOf(holdersOf(session));
    }

    @Override
    public Set<String> sessions(String session) {
        return contendersOf(session);
    }

    /** The document is unchanged, and each holder's contender exists; both are needed for a permit. */
    @Override
    public List<TxnOperation> proof(String session) {
        List<TxnOperation> ops = new ArrayList<>();
        if (lock != null) {
            ops.add(TxnOperation.checkIndex(names.lockFile(), lock.index()));
        }
        holdersOf(session).forEach(holder -> ops.add(TxnOperation.checkSession(names.contender(holder), holder)));
        return ops;
    }

    @Override
    public boolean isWithout(String session) {
        return !waiting.containsKey(session) && contendersOf(session).isEmpty();
    }

    @Override
    public boolean isGuarded() {
        return true; // each change of the line and each grant change one document or one guard
    }

    /** The place in the document as it is written: the same for everybody who reads it. */
    @Override
    public OptionalInt lowestPlace(String session) {
        int place = 0;
        SortedSet<String> own = holdersOf(session);
        for (String holder : lock == null ? new TreeSet<String>() : lock.holders()) {
            if (own.contains(holder)) {
                return OptionalInt.of(place);
            }
            place++;
        }
        return OptionalInt.empty();
    }

    @Override
    public String member(String session) {
        QueuedMember inLine = waiting.get(session);
        if (inLine != null) {
            return inLine.member();
        }
        return contenders.values().stream()
                .filter(contender -> contender.main().equals(session))
                .map(Contender::member)
                .findFirst()
                .orElse(session);
    }

    /** A foreign holder is a member of its own with one permit; foreign waiters are not seen. */
    @Override
    public KeyTable table() {
        List<PermitRecord> records = new ArrayList<>();
        waiting.forEach((session, w) -> records.add(w.record(permits(session))));
        Map<String, Integer> limits = new HashMap<>();
        Map<String, Integer> permits = new HashMap<>();
        for (String holder : holders()) {
            Contender contender = contenders.get(holder);
            String main = contender == null ? holder : contender.main();
            permits.merge(main, 1, Integer::sum);
            limits.merge(main, contender == null ? limitOfDocument() : contender.limit(), Math::max);
        }
        permits.forEach((main, count) -> {
            if (!waiting.containsKey(main)) {
                records.add(QueuedMember.holder(main, count, limits.getOrDefault(main, 1)));
            }
        });
        return KeyTable.ofSessions(records, override, 0);
    }

    private int limitOfDocument() {
        return lock == null ? 1 : lock.limit();
    }
}
