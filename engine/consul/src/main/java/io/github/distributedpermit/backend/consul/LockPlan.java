package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.LockBoard.Contender;
import io.github.distributedpermit.backend.consul.LockBoard.Document;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.step.PermitRecord;
import io.github.distributedpermit.spi.step.Step;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The difference between a board of layout lock-file and what a step makes of it, as one transaction. A permit is a
 * session in the document, so that who waits lays out as many contenders as it may be served. Used once, by one thread.
 */
final class LockPlan {

    /** 64 without the fence, the document, the guard (2), the final get-tree, the own record, inbox and override. */
    private static final int ROOM = 56;

    private final LockBoard board;
    private final Step step;
    private final Intent intent;
    private final Map<String, PermitRecord> written = new HashMap<>();
    private final List<Op> ops = new ArrayList<>();
    private final SortedSet<String> holders;
    private final SortedSet<String> ownBefore;
    private final @Nullable PermitRecord own;
    private final int target;
    private final boolean queues;
    private int waitersAfter;

    private LockPlan(LockBoard board, Step step, Intent intent) {
        this.board = board;
        this.step = step;
        this.intent = intent;
        step.written().forEach(record -> written.put(record.member(), record));
        holders = board.holders();
        ownBefore = board.holdersOf(intent.session());
        own = written.get(intent.session());
        boolean removed = step.removed().contains(intent.session());
        target = removed ? 0 : own == null ? ownBefore.size() : own.permits();
        queues = own != null ? own.inLine() : !removed && board.waiting().containsKey(intent.session());
        waitersAfter = board.waiting().size();
    }

    static Change of(LockBoard board, Step step, Intent intent) {
        return new LockPlan(board, step, intent).build();
    }

    private Change build() {
        refuseOtherLimit();
        int needed = contendersNeeded();
        if (needed > intent.sessions().size()) {
            return new Change(List.of(), false, true, false, queues, needed);
        }
        Set<String> kept = chooseOwn(needed);
        SortedSet<String> laid = board.contendersOf(intent.session());
        List<String> missing = kept.stream().filter(s -> !isLaid(s)).toList();
        if (missing.size() > ROOM) {
            missing.subList(0, ROOM).forEach(this::lay);
            ops.addAll(
                    0, guards(board.holders(), waitersAfter)); // a session that is laid out again must not hold again
            return new Change(ops, false, true, false, queues, needed);
        }
        missing.forEach(this::lay);
        boolean isPart = false;
        for (String session : laid) {
            if (!kept.contains(session)) {
                isPart |= ops.size() >= ROOM;
                if (ops.size() < ROOM) {
                    ops.add(Op.delete(board.names().contender(session)));
                }
            }
        }
        serveAll();
        writeOwnRecord();
        if (intent.inbox() && target == 0 && !queues) {
            ops.add(Op.delete(board.names().inbox(intent.session())));
        }
        intent.override().ifPresent(this::writeOverride);
        boolean isChanged = !holders.equals(
                board.lock() == null ? new TreeSet<>() : board.lock().holders());
        if (!ops.isEmpty() || isChanged) {
            ops.addAll(0, guards(holders, waitersAfter));
        }
        boolean isPlain = board.waiting().isEmpty()
                && waitersAfter == 0
                && intent.override().isEmpty()
                && target == intent.wanted();
        return new Change(List.copyOf(ops), isPlain, isPart, target > ownBefore.size(), queues, needed);
    }

    /** Others' limit is theirs: with another, the command line would stop for good. */
    private void refuseOtherLimit() {
        Document lock = board.lock();
        int declared = intent.declared().orElse(0);
        if (lock != null
                && declared != 0
                && lock.limit() != declared
                && (target > ownBefore.size() || queues)
                && board.hasForeignHolders()) {
            throw PermitStoreException.permanent(
                    "Consul's key " + board.names().lockFile() + " is held with limit " + lock.limit()
                            + " by others than this application, which goes by " + declared
                            + "; both must use one limit",
                    null);
        }
    }

    /** One for each permit, and one for each that the line may bring. */
    private int contendersNeeded() {
        PermitRecord record = own;
        if (!queues) {
            return target;
        }
        int wanted = record == null ? wantedInLine() : record.wanted();
        return Math.min(Math.max(target, wanted), ConsulPermitBackend.MAX_LIMIT);
    }

    private int wantedInLine() {
        Waiting waiting = board.waiting().get(intent.session());
        return waiting == null ? 0 : waiting.wanted();
    }

    /** Which sessions hold: those that do, as many as may stay, then further ones. Answers all that keep a contender. */
    private Set<String> chooseOwn(int needed) {
        Set<String> order = new LinkedHashSet<>(ownBefore);
        order.addAll(board.contendersOf(intent.session()));
        order.addAll(intent.sessions());
        order.retainAll(new LinkedHashSet<>(intent.sessions()));
        Set<String> kept = new LinkedHashSet<>();
        holders.removeAll(ownBefore);
        for (String session : order) {
            if (kept.size() < target) {
                holders.add(session);
            }
            if (kept.size() < needed) {
                kept.add(session);
            }
        }
        return kept;
    }

    private boolean isLaid(String session) {
        Contender known = board.contenders().get(session);
        boolean grows = queues || target > ownBefore.size();
        return known != null && (!grows || known.limit() == limit());
    }

    /** Its own, also if the change serves it without a claim: that of an override is no limit of a contender. */
    private int limit() {
        return intent.declared().orElseGet(() -> limitOf(board.contendersOf(intent.session())));
    }

    /** The highest that these sessions of ours declared. */
    private int limitOf(Set<String> sessions) {
        return sessions.stream()
                .map(session -> board.contenders().get(session))
                .filter(Objects::nonNull)
                .mapToInt(Contender::limit)
                .max()
                .orElse(1);
    }

    private void lay(String session) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("main", intent.session());
        body.put("member", intent.member());
        body.put("limit", limit());
        ops.add(Op.lock(board.names().contender(session), session, Format.text(body))
                .flags(LockBoard.FLAGS));
    }

    /** As many of the served, in their order, as there is room for and as have laid out their contenders. */
    private void serveAll() {
        Map<String, Holding> taken = new LinkedHashMap<>();
        for (Map.Entry<String, Holding> served : step.served().entrySet()) {
            String session = served.getKey();
            if (session.equals(intent.session())) {
                continue; // itself is served without a notice
            }
            SortedSet<String> spare = board.contendersOf(session);
            spare.removeAll(board.holdersOf(session));
            int missing = served.getValue().permits() - board.permits(session);
            if (spare.size() < missing || ops.size() + 2 * (taken.size() + 1) > ROOM) {
                break;
            }
            spare.stream().limit(missing).forEach(holders::add);
            taken.put(session, served.getValue());
        }
        taken.forEach(this::tell);
    }

    private void tell(String session, Holding holding) {
        Waiting waiting = board.waiting().get(session);
        PermitRecord record = written.get(session);
        if (waiting == null || record == null) {
            throw new IllegalStateException("Only who waits is served: " + session);
        }
        String name = board.names().waiting(session);
        if (record.inLine()) {
            long since = record.since().orElseThrow();
            ops.add(Op.cas(name, waiting.index(), waiting.text(record, since)));
        } else {
            ops.add(Op.deleteCas(name, waiting.index()));
            waitersAfter--;
        }
        String notice = new Notice(holding, placeOf(session), intent.nonce()).text();
        ops.add(Op.lock(board.names().inbox(session), session, notice));
    }

    /** In the document as it will be. */
    private int placeOf(String session) {
        SortedSet<String> theirs = board.contendersOf(session);
        int place = 0;
        for (String holder : holders) {
            if (theirs.contains(holder)) {
                break;
            }
            place++;
        }
        return place;
    }

    private void writeOwnRecord() {
        Waiting known = board.waiting().get(intent.session());
        String name = board.names().waiting(intent.session());
        PermitRecord record = own;
        if (record != null && record.inLine()) {
            long since = record.since().orElseThrow();
            if (known == null) {
                ops.add(Op.lock(name, intent.session(), Waiting.text(record, intent.member(), since)));
                waitersAfter++;
            } else if (!known.isSame(record, since)) {
                ops.add(Op.cas(name, known.index(), known.text(record, since)));
            }
        } else if (known != null && !queues) {
            ops.add(Op.deleteCas(name, known.index()));
            waitersAfter--;
        }
    }

    private void writeOverride(OptionalInt limit) {
        String name = board.names().override();
        ops.add(limit.isPresent() ? Op.set(name, JsonText.of(Map.of("limit", limit.getAsInt()))) : Op.delete(name));
    }

    /** The document guards the permits; the guard of the line is there while somebody waits. */
    private List<Op> guards(SortedSet<String> after, int waiters) {
        List<Op> guards = new ArrayList<>();
        guards.add(document(after));
        String line = board.names().line();
        String value = Format.text(board.lineJson(), Map.of("nonce", intent.nonce()));
        if (waiters == 0) {
            guards.add(board.lineIndex() == 0 ? Op.checkNotExists(line) : Op.deleteCas(line, board.lineIndex()));
        } else if (board.lineIndex() == 0) {
            guards.add(Op.cas(line, 0, value));
            guards.add(Op.lock(line, intent.session(), value));
        } else {
            guards.add(Op.cas(line, board.lineIndex(), value));
        }
        return guards;
    }

    /** Left empty, it would stop everybody who comes with another limit, so that the last holder deletes it. */
    private Op document(SortedSet<String> after) {
        String name = board.names().lockFile();
        Document lock = board.lock();
        if (after.isEmpty()) {
            return lock == null ? Op.checkNotExists(name) : Op.deleteCas(name, lock.index());
        }
        if (lock != null && lock.holders().equals(after)) {
            return Op.checkIndex(name, lock.index());
        }
        boolean foreign = board.hasForeignHolders();
        boolean setsLimit = !foreign && target > ownBefore.size();
        int limit = lock == null || setsLimit ? intent.declared().orElseGet(() -> limitOf(after)) : lock.limit();
        Map<String, Object> all = new LinkedHashMap<>();
        after.forEach(holder -> all.put(holder, true));
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("Limit", limit);
        body.put("Holders", all);
        if (lock != null) {
            lock.json().members().forEach(body::putIfAbsent); // HashiCorp's client drops what it does not know
        }
        return Op.cas(name, lock == null ? 0 : lock.index(), JsonText.of(body)).flags(LockBoard.FLAGS);
    }
}
