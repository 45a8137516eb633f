package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.step.Step;
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
 * A permit key in layout lock-file: the {@code .lock} document of HashiCorp's semaphore and the contenders beside it. Each
 * permit is a session in the document. A holder without a contender here has ended, or was evicted. The queue is this library's own;
 * other clients do not read it.
 *
 * <p>Immutable. {@link LockFilePlan} computes the changes. HashiCorp's client sees this library's permits as ordinary
 * holders, and this library sees its holders as members with one permit each.
 *
 * @param lock the document, if there is one
 * @param guardJson all of the guard of the queue, also what this version does not know
 * @param contenders of ours, by session
 * @param contending sessions that have locked the contender named after them, whoever they belong to
 * @param live sessions that have a key here, whoever they belong to
 */
record LockFileTree(
        KeyEntries entries,
        @Nullable Document lock,
        JsonObject guardJson,
        Map<String, Contender> contenders,
        Set<String> contending,
        Set<String> live)
        implements KeyTree {

    /**
     * How HashiCorp marks the keys of a semaphore; an unsigned number. HashiCorp's client refuses a document without them.
     */
    static final long FLAGS = 0xe0f69a2baa414de0L;

    /** How HashiCorp marks the key of a lock. The document of {@code consul lock -n=1} has them. */
    private static final long PLAIN_LOCK_FLAGS = 0x2ddccbc058a50c18L;

    /** A name of this form below the key is the contender of that session, also of other clients. */
    private static final Pattern SESSION = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /**
     * HashiCorp's document.
     *
     * @param holders sessions, also those that have ended
     * @param json all of it, also what this version does not know
     */
    record Document(int limit, SortedSet<String> holders, long index, JsonObject json) {}

    /** @param main the session by which its member is named */
    record Contender(String session, String main, String member, int limit) {}

    /** Reads a tree; what is damaged, or not ours under a name of ours, fails permanently. */
    static LockFileTree of(KeyNames names, List<KeyValue> tree) {
        KeyEntries entries = KeyEntries.of(names, tree);
        KeyValue guard = entries.guard();
        JsonObject guardJson = guard == null ? JsonObject.EMPTY : KeyEntries.parse(guard, Format::read);
        Map<String, Contender> contenders = new HashMap<>();
        Set<String> contending = new HashSet<>();
        Set<String> live = new HashSet<>(entries.waiting().keySet());
        if (guard != null && guard.session() != null) {
            // When a session ends Consul deletes or releases its keys, so that a session which has locked one is alive.
            live.add(guard.session());
        }
        entries.others().forEach((name, entry) -> {
            if (entry.session() != null) {
                live.add(entry.session());
            }
            if (name.startsWith(KeyNames.SLOT)) {
                throw KeyEntries.ofOtherLayout(entry, "slots");
            }
            if (SESSION.matcher(name).matches()) {
                if (entry.session() != null) {
                    contending.add(name);
                }
                KeyEntries.parse(entry, e -> contender(name, e)).ifPresent(c -> contenders.put(name, c));
            }
        });
        KeyValue lock = entries.others().get(KeyNames.LOCK_FILE);
        Document document = lock == null ? null : KeyEntries.parse(lock, LockFileTree::document);
        return new LockFileTree(entries, document, guardJson, contenders, contending, live);
    }

    /**
     * A holder that is listed may have ended; HashiCorp's clients remove it with their next write, as this library
     * does.
     */
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

    /** Other clients may write what they like as the body of their contenders; that of the command line is empty. */
    private static Optional<Contender> contender(String session, KeyValue entry) {
        // The first member of every body that LockFilePlan writes.
        if (!entry.value().startsWith("{\"main\"")) {
            return Optional.empty();
        }
        JsonObject json = Format.read(entry);
        return Optional.of(new Contender(session, json.text("main"), json.text("member"), json.count("limit")));
    }

    /** The index of the guard of the queue; 0 if no member waits. */
    long guardIndex() {
        KeyValue guard = entries.guard();
        return guard == null ? 0 : guard.modified();
    }

    /**
     * Holders that are alive and have not been evicted. Any other key of the session does not count: the guard of the
     * queue stays with the member that was the first to wait, also after its permit has been taken from it. A new
     * set, which the caller may change.
     */
    SortedSet<String> holders() {
        SortedSet<String> alive = new TreeSet<>();
        if (lock != null) {
            alive.addAll(lock.holders());
            alive.retainAll(contending);
        }
        return alive;
    }

    /** The contenders of other clients have no body of this library. */
    boolean isForeign(String session) {
        return !contenders.containsKey(session);
    }

    /** The limit of the document must not be changed while there are any. */
    boolean hasForeignHolders() {
        return holders().stream().anyMatch(this::isForeign);
    }

    /**
     * The member's sessions with a contender here.
     *
     * @param main the member's first session
     * @return also those that hold no permit now
     */
    SortedSet<String> contendersOf(String main) {
        SortedSet<String> sessions = new TreeSet<>();
        contenders.values().stream()
                .filter(contender -> contender.main().equals(main))
                .forEach(contender -> sessions.add(contender.session()));
        return sessions;
    }

    /** The member's sessions that hold a permit. */
    SortedSet<String> holdersOf(String main) {
        SortedSet<String> sessions = contendersOf(main);
        sessions.retainAll(holders());
        return sessions;
    }

    /** A foreign holder is a member of its own with one permit; foreign waiters are not seen. */
    @Override
    public Map<String, Held> held() {
        Map<String, Held> held = new HashMap<>();
        for (String holder : holders()) {
            Contender contender = contenders.get(holder);
            String main = contender == null ? holder : contender.main();
            int limit = contender == null ? limitOfDocument() : contender.limit();
            held.merge(main, new Held(1, limit), Held::plus);
        }
        return held;
    }

    /** Other clients count too, since all share the limit. */
    @Override
    public int used() {
        return holders().size();
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

    /** A session holds one permit, so that it names the permit. */
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
            ops.add(TxnOperation.checkIndex(names().lockFile(), lock.index()));
        }
        holdersOf(session).forEach(holder -> ops.add(TxnOperation.checkSession(names().contender(holder), holder)));
        return ops;
    }

    /** Each change of the queue writes the guard; a contender can also vanish with the session of its holder. */
    @Override
    public List<TxnOperation> unchanged() {
        List<TxnOperation> ops = new ArrayList<>();
        ops.add(
                lock == null
                        ? TxnOperation.checkNotExists(names().lockFile())
                        : TxnOperation.checkIndex(names().lockFile(), lock.index()));
        ops.add(
                guardIndex() == 0
                        ? TxnOperation.checkNotExists(names().guard())
                        : TxnOperation.checkIndex(names().guard(), guardIndex()));
        holders().forEach(holder -> ops.add(TxnOperation.checkSession(names().contender(holder), holder)));
        return ops;
    }

    /**
     * A contender may outlive its grant and serve for the next one, so the document has to be as it was seen: otherwise an
     * eviction that arrives late could take permits that the member has got since.
     */
    @Override
    public List<TxnOperation> eviction(String session) {
        List<TxnOperation> ops = new ArrayList<>();
        if (lock != null) {
            ops.add(TxnOperation.checkIndex(names().lockFile(), lock.index()));
        }
        ops.addAll(KeyTree.super.eviction(session));
        return ops;
    }

    /** A session in the document counts only while its contender exists. */
    @Override
    public List<TxnOperation> deletion(String session) {
        return holdersOf(session).stream()
                .map(holder -> TxnOperation.delete(names().contender(holder)))
                .toList();
    }

    /** Not a document without holders: that is one of HashiCorp's client, which deletes it. */
    @Override
    public boolean hasOrphans(String session) {
        boolean spare = !waiting().containsKey(session)
                && contendersOf(session).size() > holdersOf(session).size();
        boolean ended = lock != null && !lock.holders().isEmpty() && holders().isEmpty();
        return spare || ended || (guardIndex() != 0 && waiting().isEmpty());
    }

    /** A spare contender counts as well, because it has to be deleted. */
    @Override
    public boolean isWithout(String session) {
        return !waiting().containsKey(session) && contendersOf(session).isEmpty();
    }

    @Override
    public boolean isGuarded() {
        return true; // each change of the queue writes its guard, and each grant writes the document
    }

    /** The place in the document as it is written: the same for every member that reads it. */
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

    /** Each contender names its member, since the sessions themselves are not read. */
    @Override
    public Optional<String> holder(String session) {
        return contenders.values().stream()
                .filter(contender -> contender.main().equals(session))
                .map(Contender::member)
                .findFirst();
    }

    @Override
    public PlannedTransaction plan(Step step, ChangeRequest request) {
        return LockFilePlan.of(this, step, request);
    }

    /** For foreign holders, which declare no limit of their own. */
    private int limitOfDocument() {
        return lock == null ? 1 : lock.limit();
    }
}
