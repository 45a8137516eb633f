package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.LockFileTree.Contender;
import io.github.distributedpermit.backend.consul.LockFileTree.Document;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.step.PermitRecord;
import io.github.distributedpermit.spi.step.Step;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Plans the transaction that makes of a tree of layout lock-file what a step says. A permit is a session in the document
 * {@code .lock}, and a session in it counts only while its contender, a key locked by that session, exists. The member that
 * serves a waiter has to find sessions that it may put into the document, so a member that waits creates beforehand as many
 * contenders as it may be granted permits.
 *
 * <p>The document is written as a whole by check-and-set, so that every change of a permit conflicts with every other one.
 * Sessions and contenders that do not fit into one transaction are created by transactions before it, which grant nothing.
 * Used once, by one thread.
 */
final class LockFilePlan {

    /**
     * 64 without the fence, the document (2), the guard (2), the final get-tree, the own record (2), inbox and override.
     * Operations that remain for contenders, served members and notices.
     */
    private static final int ROOM = 54;
    /** What a served member needs besides the checks of its contenders: its record (2) and its notice. */
    private static final int NOTICE_COST = 3;

    /** The key as it was read; the guards make the transaction fail if it has changed. */
    private final LockFileTree tree;

    private final Step step;
    private final ChangeRequest request;
    /** Without the guards, which are put in front at the end. */
    private final List<TxnOperation> ops = new ArrayList<>();

    private final QueueChanges queue;
    /**
     * The sessions in the document, at last those after the transaction. Of other members and clients as they are;
     * the member's own are replaced by {@link #chooseOwn}.
     */
    private final SortedSet<String> holders;
    /** The claiming member's sessions in the document before. */
    private final SortedSet<String> ownBefore;
    /** What the step writes for the claiming member. */
    private final @Nullable PermitRecord own;
    /**
     * How many permits the claiming member has after the transaction. As the step grants it, in whole: the document
     * takes any number of permits with one operation.
     */
    private final int target;
    /** Whether it waits then. */
    private final boolean queues;

    private LockFilePlan(LockFileTree tree, Step step, ChangeRequest request) {
        this.tree = tree;
        this.step = step;
        this.request = request;
        queue = new QueueChanges(tree, step, request, ops);
        holders = tree.holders();
        ownBefore = tree.holdersOf(request.session());
        own = queue.written(request.session());
        boolean removed = step.removed().contains(request.session());
        target = removed ? 0 : own == null ? ownBefore.size() : own.permits();
        queues = own != null ? own.isQueued() : !removed && tree.waiting().containsKey(request.session());
    }

    /** The plan itself is not kept, since it can be built only once. */
    static PlannedTransaction of(LockFileTree tree, Step step, ChangeRequest request) {
        return new LockFilePlan(tree, step, request).build();
    }

    /**
     * Collects the operations. The guards are put in front at last, when it is known what they have to write; they depend on the
     * holders and the waiters after the transaction.
     */
    private PlannedTransaction build() {
        refuseOtherLimit();
        // One session for each contender. If the member has fewer, the committer creates them and plans again.
        int needed = contendersNeeded();
        if (needed > request.sessions().size()) {
            return new PlannedTransaction(List.of(), false, true, false, queues, needed, Set.of());
        }
        Set<String> chosen = chooseOwn(needed);
        // The contenders that exist in the tree. Those that were not chosen are deleted below.
        SortedSet<String> existing = tree.contendersOf(request.session());
        List<String> missing = chosen.stream().filter(s -> !isUsable(s)).toList();
        if (missing.size() > ROOM) {
            missing.subList(0, ROOM).forEach(this::createContender);
            // Holders without a contender are removed from the document with it: if the contender of such a session
            // were
            // created again, the session would hold a permit again.
            ops.addAll(0, guards(tree.holders(), queue.waitersAfter()));
            return new PlannedTransaction(ops, false, true, false, queues, needed, chosen);
        }
        missing.forEach(this::createContender);
        boolean isPart = false;
        for (String session : existing) {
            if (!chosen.contains(session)) {
                isPart |= ops.size() >= ROOM;
                // A contender that stays for want of room holds no permit, and is deleted by the next change.
                if (ops.size() < ROOM) {
                    ops.add(TxnOperation.delete(tree.names().contender(session)));
                }
            }
        }
        serveAll();
        writeOwnRecord();
        queue.finish(target == 0 && !queues);
        // Holders whose contender has vanished are no longer in the set, so that the document is cleaned up even
        // without a change of permits.
        boolean isChanged = !holders.equals(
                tree.lock() == null ? new TreeSet<>() : tree.lock().holders());
        if (!ops.isEmpty() || isChanged || tree.hasOrphans(request.session())) {
            ops.addAll(0, guards(holders, queue.waitersAfter()));
        }
        return new PlannedTransaction(
                List.copyOf(ops), queue.isPlain(target), isPart, target > ownBefore.size(), queues, needed, chosen);
    }

    /**
     * The limit of other clients stays: with another limit, {@code consul lock} would stop with an error. Throws if
     * the member would take a permit or wait. To return permits is always possible.
     */
    private void refuseOtherLimit() {
        Document lock = tree.lock();
        int declared = request.declared().orElse(0);
        if (lock != null
                && declared != 0
                && lock.limit() != declared
                && (target > ownBefore.size() || queues)
                && tree.hasForeignHolders()) {
            throw PermitStoreException.permanent(
                    "Consul's key " + tree.names().lockFile() + " is held with limit " + lock.limit()
                            + " by clients other than this application, which uses " + declared
                            + "; both must use one limit",
                    null);
        }
    }

    /**
     * One for each permit, and one for each that it may be granted while it waits. A waiting member is served by
     * others, who cannot create a contender for it.
     */
    private int contendersNeeded() {
        PermitRecord record = own;
        if (!queues) {
            return target;
        }
        // What the member wants according to its entry in the queue, if the step leaves that as it is.
        int wanted = record == null
                ? Objects.requireNonNull(tree.waiting().get(request.session())).wanted()
                : record.wanted();
        return Math.min(Math.max(target, wanted), GrantVersion.MAX_LIMIT);
    }

    /**
     * Chooses which sessions of the member hold: those that do, as many as may stay, then those that have a contender, then
     * others. A permit thereby keeps its session, and few contenders are created. Returns all that keep a contender.
     */
    private Set<String> chooseOwn(int needed) {
        Set<String> order = new LinkedHashSet<>(ownBefore);
        order.addAll(tree.contendersOf(request.session()));
        order.addAll(request.sessions());
        // A contender of a session that the member no longer has is neither kept nor used.
        order.retainAll(new LinkedHashSet<>(request.sessions()));
        Set<String> chosen = new LinkedHashSet<>();
        holders.removeAll(ownBefore);
        for (String session : order) {
            if (chosen.size() < target) {
                holders.add(session);
            }
            if (chosen.size() < needed) {
                chosen.add(session);
            }
        }
        return chosen;
    }

    /**
     * Whether a contender exists and needs no change: one that may get permits declares the present limit. A
     * contender with another limit stays while the member only returns permits, because no grant depends on it then.
     */
    private boolean isUsable(String session) {
        Contender known = tree.contenders().get(session);
        boolean grows = queues || target > ownBefore.size();
        return known != null && (!grows || known.limit() == limit());
    }

    /**
     * Its own, also if the change serves it without a claim: that of an override is no limit of a contender. The
     * highest one, which is at least 1: a contender of a member that does not claim keeps what it has declared.
     */
    private int limit() {
        return request.declared().orElseGet(() -> limitOf(tree.contendersOf(request.session())));
    }

    /** The highest that these sessions of ours declared. */
    private int limitOf(Set<String> sessions) {
        return sessions.stream()
                .map(session -> tree.contenders().get(session))
                .filter(Objects::nonNull)
                .mapToInt(Contender::limit)
                .max()
                .orElse(1);
    }

    /** Creates a contender, or replaces its limit. Its body says to whom it belongs; other clients ignore that. */
    private void createContender(String session) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("main", request.session());
        body.put("member", request.member());
        body.put("limit", limit());
        ops.add(TxnOperation.lock(tree.names().contender(session), session, Format.text(body))
                .flags(LockFileTree.FLAGS));
    }

    /**
     * Serves as many of the waiting members, in their order, as there is room for and as have enough contenders. It stops at the
     * first one that cannot be served, so that no member overtakes another; the next transaction serves the others.
     */
    private void serveAll() {
        Map<String, Holding> taken = new LinkedHashMap<>();
        for (Map.Entry<String, Holding> served : step.served().entrySet()) {
            String session = served.getKey();
            if (session.equals(request.session())) {
                continue; // itself is served without a notice
            }
            SortedSet<String> spare = tree.contendersOf(session);
            spare.removeAll(tree.holdersOf(session));
            int missing = served.getValue().permits() - tree.permits(session);
            int fit = Math.min(missing, ROOM - ops.size() - NOTICE_COST * (taken.size() + 1));
            if (spare.size() < missing || fit <= 0) {
                break;
            }
            // Fails if a contender has vanished, with its session or by an eviction: the permit would not count.
            spare.stream().limit(fit).forEach(contender -> {
                holders.add(contender);
                ops.add(TxnOperation.checkSession(tree.names().contender(contender), contender));
            });
            if (fit < missing) {
                // The member is notified when it has all that the step grants it; the next transaction goes on with it.
                queue.stillWaits(session);
                break;
            }
            taken.put(session, served.getValue());
        }
        // The places are known when all of them are in the document.
        taken.forEach((session, holding) -> queue.served(session, holding, placeOf(session)));
    }

    /**
     * The lowest place of a member in the document as it will be; part of the version of its grant. The served member
     * computes the same place when it reads the document, since both sort the sessions.
     */
    private int placeOf(String session) {
        SortedSet<String> theirs = tree.contendersOf(session);
        int place = 0;
        for (String holder : holders) {
            if (theirs.contains(holder)) {
                break;
            }
            place++;
        }
        return place;
    }

    /** Comes last, so that the notices to holders get only the room that the served members have left. */
    private void writeOwnRecord() {
        PermitRecord record = own;
        if (record != null && record.isQueued()) {
            queue.waits(record, record.since().orElseThrow(), ROOM - ops.size());
        } else if (!queues) {
            queue.doesNotWait();
        }
    }

    /**
     * The document guards the permits; the guard of the queue exists while a member waits.
     *
     * @param after the sessions in the document after the transaction
     * @param waiters how many members wait then
     */
    private List<TxnOperation> guards(SortedSet<String> after, int waiters) {
        List<TxnOperation> guards = new ArrayList<>(document(after));
        String name = tree.names().guard();
        String value = Format.text(tree.guardJson(), Map.of("nonce", request.nonce()));
        if (waiters == 0) {
            guards.addAll(
                    tree.guardIndex() == 0
                            ? List.of(TxnOperation.checkNotExists(name))
                            : TxnOperation.deleteUnchanged(name, tree.guardIndex()));
        } else if (tree.guardIndex() == 0) {
            guards.add(TxnOperation.cas(name, 0, value));
            // Locked by the session, so that the guard vanishes if this member crashes; the next one creates it
            // again.
            guards.add(TxnOperation.lock(name, request.session(), value));
        } else {
            guards.add(TxnOperation.cas(name, tree.guardIndex(), value));
        }
        return guards;
    }

    /**
     * The operations that guard the document or write it. The last holder deletes it, because the limit of an empty document
     * would still be binding for other clients.
     */
    private List<TxnOperation> document(SortedSet<String> after) {
        String name = tree.names().lockFile();
        Document lock = tree.lock();
        if (after.isEmpty()) {
            return lock == null
                    ? List.of(TxnOperation.checkNotExists(name))
                    : TxnOperation.deleteUnchanged(name, lock.index());
        }
        if (lock != null && lock.holders().equals(after)) {
            // The document is compared even if it stays, because every grant rests on its content.
            return List.of(TxnOperation.checkIndex(name, lock.index()));
        }
        // The limit of the document is that of the member which took a permit last, unless other clients hold as well.
        boolean foreign = tree.hasForeignHolders();
        boolean setsLimit = !foreign && target > ownBefore.size();
        int limit = lock == null || setsLimit ? request.declared().orElseGet(() -> limitOf(after)) : lock.limit();
        Map<String, Object> all = new LinkedHashMap<>();
        after.forEach(holder -> all.put(holder, true));
        Map<String, Object> body = new LinkedHashMap<>();
        // The names and their capital letters are those of HashiCorp's format, which must not be changed.
        body.put("Limit", limit);
        body.put("Holders", all);
        if (lock != null) {
            lock.json().members().forEach(body::putIfAbsent); // HashiCorp's client drops what it does not know
        }
        return List.of(TxnOperation.cas(name, lock == null ? 0 : lock.index(), JsonText.of(body))
                .flags(LockFileTree.FLAGS));
    }
}
