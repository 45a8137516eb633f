package io.github.distributedpermit.core.key;

import io.github.distributedpermit.PermitToken;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What must hold after every event of a simulated world, seen from outside the engines wherever that is possible. */
final class SimInvariants implements SimServer.Inspector, SimNetwork.Tap {

    private static final long MILLI = Weather.MILLI;

    private final SimPlan plan;
    private final Timeline time;
    private final SimServer server;
    private final SimWeather weather;
    private final List<SimMember> members;
    private final List<Set<PermitToken>> tokens = new ArrayList<>();
    private final List<Map<String, SimTable.Row>> rowsBefore = new ArrayList<>();
    private final PermitToken[] newest;
    private final int[] ceiling;
    private final long[] excusedUntil;
    private final long[] stalledSince;
    private final long[] busyAt;
    private final long[] oldestSince;
    private final long[] overSince;
    /** Until when members may not know of the last change of an operator's limit. */
    private final long[] limitHeardBy;

    private final @Nullable SimCall[] oldest;
    private final boolean[] overridden;
    private final long patience;
    private @Nullable AssertionError first;

    SimInvariants(SimPlan plan, SimNetwork network, SimWeather weather, List<SimMember> members) {
        this.plan = plan;
        this.time = network.time;
        this.server = network.server;
        this.weather = weather;
        this.members = members;
        int keys = plan.limits.length;
        newest = new PermitToken[keys];
        ceiling = new int[keys];
        excusedUntil = new long[keys];
        stalledSince = new long[keys];
        busyAt = new long[keys];
        overridden = new boolean[keys];
        oldestSince = new long[keys];
        overSince = new long[keys];
        limitHeardBy = new long[keys];
        oldest = new SimCall[keys];
        for (int key = 0; key < keys; key++) {
            tokens.add(new HashSet<>());
            rowsBefore.add(new HashMap<>());
            stalledSince[key] = Long.MAX_VALUE;
            excusedUntil[key] = Long.MIN_VALUE;
        }
        patience = plan.severity == 0
                ? (plan.limitsAreOfCalls() ? 18 : 6) * plan.slowest + plan.slice + plan.linger + 2 * MILLI
                : 2 * plan.commandTimeout + plan.recheck + 2_500 * MILLI;
    }

    /** Remembered as well as thrown, for futures swallow what their callbacks throw. */
    AssertionError violation(String message, Object... arguments) {
        AssertionError violation = new AssertionError(message.formatted(arguments));
        if (first == null) {
            first = violation;
        }
        return violation;
    }

    void joined(SimMember member) {
        for (int key = 0; key < ceiling.length; key++) {
            ceiling[key] = Math.max(ceiling[key], member.limits[key]);
        }
    }

    void overridden(int key, OverrideLimit limit) {
        overridden[key] = true;
        limitHeardBy[key] = time.now() + plan.recheck;
        ceiling[key] = Math.max(ceiling[key], limit.orElse(0));
        for (SimMember member : members) {
            for (SimCall call : member.waiting.get(key)) {
                call.leastLimit = Math.min(call.leastLimit, limit.orElse(call.limit));
            }
        }
    }

    /** The store has forgotten everything: for one lease it may grant what others believe to hold. */
    void emptied() {
        for (int key = 0; key < ceiling.length; key++) {
            excusedUntil[key] = time.now() + plan.lease;
            rowsBefore.get(key).clear();
        }
    }

    int limitFor(SimCall call) {
        SimTable table = server.find(SimMember.name(call.key));
        return table == null ? call.limit : table.override().orElse(call.limit);
    }

    // ---- what goes through the network

    @Override
    public void sent(SimLink link, Claim claim) {
        if (!SimMember.isOfCalls(claim.key())) {
            return;
        }
        SimMember member = member(link.member);
        if (member != null && !member.claims[SimMember.key(claim.key())].spend()) {
            throw violation("hot loop: %s claims %s too often, now %s", member, claim.key(), claim);
        }
        KeyQueueState sender = member == null ? null : Peek.state(member.engine, claim.key());
        if (member != null && sender != null) {
            member.senders.put(claim.sequence(), sender);
        }
        if (member != null) {
            checkThatNothingUnusedIsRenewed(member, SimMember.key(claim.key()), claim);
        }
    }

    /** Its answers may be lost, and then its repetitions would keep permits that no call uses. */
    private void checkThatNothingUnusedIsRenewed(SimMember member, int key, Claim claim) {
        long now = member.process.clock();
        KeyQueueState state = Peek.state(member.engine, claim.key());
        int inUse = state == null ? 0 : state.ledger.inUse();
        boolean forgotten = now - member.wantedAt[key] >= plan.lease;
        if (forgotten || member.unansweredSince[key] == Long.MAX_VALUE) {
            member.unansweredSince[key] = now;
        }
        if (claim.counts().wanted() > inUse) {
            member.wantedAt[key] = now;
            if (now - member.unansweredSince[key] >= plan.lease) {
                throw violation(
                        "%s uses %d, and asks for more without an answer for a lease: %s", member, inUse, claim);
            }
        }
    }

    @Override
    public void delivered(SimLink link, String key, Holding holding, long answers) {
        SimMember member = member(link.member);
        if (member == null || !SimMember.isOfCalls(key)) {
            return;
        }
        int k = SimMember.key(key);
        member.unansweredSince[k] = Long.MAX_VALUE;
        boolean pushed = answers == SimNetwork.PUSHED;
        boolean inTime = member.process.clock() - link.sentAt(answers) < plan.commandTimeout;
        if (!pushed && inTime) {
            // an answer to a queue that the key has no more is none to the present one
            boolean isOfThisQueue = member.senders.get(answers) == Peek.state(member.engine, key);
            int by = isOfThisQueue ? k : ceiling.length;
            if (!isAsRecentAsCallbacks(member.answeredAt[by], member)) {
                member.heardBefore[by] = member.heardAt[by];
                member.answeredAt[by] = time.now();
            }
            member.heardAt[by] = member.process.runningTime();
        }
        if (pushed) {
            member.claims[k].earn(2);
        }
        long sentAt = link.sentAt(holding.sequence());
        long until = sentAt + plan.lease - plan.lease / Policy.MARGIN;
        if (sentAt != Long.MIN_VALUE && member.process.clock() < until) {
            if (member.process.clock() >= member.confirmedUntil[k]) {
                member.lapsedAt[k] = time.now();
            }
            member.confirmedUntil[k] = Math.max(member.confirmedUntil[k], until);
        }
    }

    @Override
    public void failed(SimLink link, Claim claim, Throwable cause) {
        SimMember member = member(link.member);
        if (member != null && SimMember.isOfCalls(claim.key())) {
            int key = SimMember.key(claim.key());
            member.failedAt[key] = Math.max(member.failedAt[key], member.process.runningTime());
        }
    }

    /**
     * A call ended because of the store. One that waits has had no answer for the store time-out by then. If its own time-out is
     * over, nothing at all was answered to the member for the command time-out, or the last claim of the key has failed. A try has
     * seen its claim fail or unanswered for the command time-out, unless the whole member had no answer for the store time-out. Time
     * the process stood still does not count, but for what was left of a timer.
     */
    void storeFailed(SimCall call) {
        SimMember member = call.member;
        long now = member.process.runningTime();
        long missed = member.process.wasStopped() ? plan.commandTimeout + 1_000 * MILLI : 0;
        long heardAt = heardAt(member, call.key);
        boolean silent = now - heardAt + missed >= plan.storeTimeout;
        boolean overdue = call.block
                ? call.timeout >= 0
                        && time.now() - call.arrivedAt >= call.timeout
                        && isStoresFault(member, call.key, now)
                : time.now() - answerableFrom(call) >= plan.commandTimeout
                        || member.failedAt[call.key] >= call.arrivedRunning;
        if (!silent && !overdue) {
            throw violation(
                    "%s ended because of the store, which answered %d ms ago (%d ms of the member's time)",
                    call, (now - heardAt) / MILLI, (now - call.arrivedRunning) / MILLI);
        }
    }

    /** When the key was last answered, before those answers that callbacks may not know of yet. */
    private long heardAt(SimMember member, int key) {
        return isAsRecentAsCallbacks(member.answeredAt[key], member) ? member.heardBefore[key] : member.heardAt[key];
    }

    private boolean isStoresFault(SimMember member, int key, long now) {
        long anything = Long.MIN_VALUE;
        for (int any = 0; any <= ceiling.length; any++) {
            anything = Math.max(anything, heardAt(member, any));
        }
        // A stop is not noticed before something was due, which the time-out of a claim is after a command time-out.
        boolean lately = time.now() - member.process.stoppedUntil() < 2 * plan.commandTimeout;
        long stopped = member.process.wasStopped() && lately ? plan.commandTimeout : 0;
        return now - anything + stopped >= plan.commandTimeout || member.failedAt[key] >= heardAt(member, key);
    }

    /** A stop in which its time ended gives it a command time-out of its own. */
    private long answerableFrom(SimCall call) {
        long wentOn = call.member.process.stoppedUntil();
        long due = call.arrivedAt + plan.commandTimeout;
        boolean endedBefore = due < call.member.process.stoppedAt();
        return !endedBefore && due + plan.commandTimeout / 20 < wentOn ? wentOn : call.arrivedAt;
    }

    private @Nullable SimMember member(String id) {
        for (SimMember member : members) {
            if (member.process.id.equals(id)) {
                return member;
            }
        }
        return null;
    }

    // ---- each step of the store

    @Override
    public void stepped(
            String key, SimTable table, @Nullable String claimer, @Nullable Claim claim, SimTable.Outcome out) {
        if (!SimMember.isOfCalls(key)) {
            return;
        }
        Map<String, SimTable.Row> before = rowsBefore.get(SimMember.key(key));
        int sum = 0;
        Map<SimTable.Row, Integer> grants = new HashMap<>();
        for (SimTable.Row row : table.rows()) {
            sum += row.permits();
            if (row.queued() && row.wanted() <= row.permits()) {
                throw violation("queued without wanting more: %s of %s", row, key);
            }
            SimTable.Row previous = before.get(row.member());
            boolean lapsed = previous == null || previous.expiry() <= server.clock();
            int had = previous == null || lapsed ? 0 : previous.permits();
            long seen = previous == null || lapsed ? -1 : previous.sequence();
            int base = had;
            boolean claims = row.member().equals(claimer) && claim != null && claim.sequence() > seen;
            if (claims && claim != null) {
                base = Math.min(
                        had, Math.min(claim.counts().held(), claim.counts().wanted()));
            } else if (row.permits() < had) {
                throw violation("a live member's holding was cut from %d: %s of %s", had, row, key);
            }
            if (row.permits() > base) {
                checkThatItPassesNone(key, table, row, claims ? claim : null);
                grants.put(row, row.permits() - base);
            }
            if (previous != null
                    && !lapsed
                    && !claims
                    && previous.queued()
                    && row.queued()
                    && !row.since().equals(previous.since())) {
                throw violation("%s has lost its place %s of %s", row, previous.since(), key);
            }
        }
        if (sum != table.used()) {
            throw violation("used is %d, but the members have %d of %s", table.used(), sum, key);
        }
        checkThatGrantsKeepTheirLimits(key, table, grants);
        checkThatNoneFits(key, table);
        before.clear();
        for (SimTable.Row row : table.rows()) {
            before.put(row.member(), row);
        }
    }

    /** A grant of the same step under a higher limit may have followed. */
    private void checkThatGrantsKeepTheirLimits(String key, SimTable table, Map<SimTable.Row, Integer> grants) {
        for (SimTable.Row served : grants.keySet()) {
            int limit = limit(table, served);
            int used = table.used();
            for (Map.Entry<SimTable.Row, Integer> other : grants.entrySet()) {
                used -= limit(table, other.getKey()) > limit ? other.getValue() : 0;
            }
            if (used > limit) {
                throw violation("a grant lifted the use of %s to %d, above the limit of %s", key, used, served);
            }
        }
    }

    /**
     * A member that was served has passed no other that would be served as well under the same limit: only a lower limit of its own
     * keeps out one that came before.
     *
     * @param claim of the served member; {@code null} if another one has served it
     */
    private void checkThatItPassesNone(String key, SimTable table, SimTable.Row served, @Nullable Claim claim) {
        SimTable.Row before = rowsBefore.get(SimMember.key(key)).get(served.member());
        long arrival = Long.MAX_VALUE; // a try comes behind all that wait
        if (claim == null && before != null) {
            arrival = before.since().orElse(Long.MAX_VALUE);
        } else if (claim != null && claim.head().queues()) {
            arrival = server.clock() - claim.head().waited().toNanos() / 1_000;
        }
        for (SimTable.Row row : table.rows()) {
            boolean isBefore = row.since().isPresent() && row.since().getAsLong() < arrival;
            if (isBefore
                    && !row.member().equals(served.member())
                    && canFit(table, row)
                    && limit(table, row) >= limit(table, served)) {
                throw violation("%s was passed by %s of %s", row, served, key);
            }
        }
    }

    /**
     * After a step no permit is free that a queued member could have: those before it block it only if they would not fit under its
     * limit either.
     */
    private void checkThatNoneFits(String key, SimTable table) {
        int limit = 0;
        int lacking = 0;
        boolean crossed = false;
        for (SimTable.Row row : table.rows()) {
            if (row.queued() && canFit(table, row)) {
                limit = Math.max(limit, limit(table, row));
                lacking = Math.max(lacking, row.lacks());
                crossed |= row.permits() + row.lacks() > row.wanted(); // the claim was sent before a grant arrived
            }
        }
        if (lacking > 0 && !crossed && table.used() + lacking <= limit) {
            throw violation(
                    "%d of %d permits of %s are in use, and none that waits needs more than %d: %s",
                    table.used(), limit, key, lacking, table.rows());
        }
    }

    private static boolean canFit(SimTable table, SimTable.Row row) {
        return row.weightOfHead() <= limit(table, row);
    }

    private static int limit(SimTable table, SimTable.Row row) {
        return table.override().orElse(row.limit());
    }

    // ---- the calls

    /** A call has ended without a permit, which may have been decided a moment before its future ends. */
    void notGranted(SimCall call) {
        if (call.passing != null && !isAsRecentAsCallbacks(call.passing.at(), call.member)) {
            throw violation("%s was served before %s of the same process", call.passing.by(), call);
        }
    }

    void granted(SimCall call) {
        PermitToken token = call.permit == null ? new PermitToken(0, 0) : call.permit.token();
        for (SimCall other : call.member.waiting.get(call.key)) {
            boolean wasThere = other.number < call.number || !isAsRecentAsCallbacks(other.arrivedAt, other.member);
            if (other.precedes(call)
                    && other.limit >= call.limit
                    && isSameGroup(other, call)
                    && !other.ended
                    && wasThere) {
                other.passedBy(call, token, time.now());
            }
        }
        if (call.passing != null && call.passing.token().compareTo(token) < 0) {
            throw violation("%s was served before %s of the same process", call.passing.by(), call);
        }
        checkOwnLimit(call);
        checkShare(call);
        if (!tokens.get(call.key).add(token)) {
            throw violation("token %s of %s was given before", token, call);
        }
        if (ceiling[call.key] == 1
                && time.now() >= excusedUntil[call.key]
                && call.permit != null
                && call.permit.isHeld()) {
            PermitToken last = newest[call.key];
            if (last != null && last.compareTo(token) >= 0) {
                throw violation("token %s of %s is not above %s, with a limit of 1", token, call, last);
            }
            newest[call.key] = token;
        }
    }

    private static boolean isSameGroup(SimCall one, SimCall other) {
        return java.util.Objects.equals(one.group, other.group);
    }

    /** No call of a group that used fewer permits of the process waits, as far as that is known for certain. */
    private void checkShare(SimCall call) {
        if (call.group == null || plan.deferred || plan.severity > 0 || plan.weights) {
            return;
        }
        int before = inUse(call, call.group) - call.weight;
        for (SimCall other : call.member.waiting.get(call.key)) {
            String group = other.group;
            if (group != null && !other.ended && !isSameGroup(other, call) && other.arrivedAt < time.now()) {
                int others = inUse(call, group);
                if (others * SimPlan.weightOf(call.group) < before * SimPlan.weightOf(group)) {
                    throw violation("%s was served, with %d in use, before %s, with %d", call, before, other, others);
                }
            }
        }
    }

    private static int inUse(SimCall call, String group) {
        int inUse = 0;
        for (SimCall other : call.member.holding.get(call.key)) {
            inUse += group.equals(other.group) && other.isHeld() ? other.weight : 0;
        }
        return inUse;
    }

    /** What the process itself has in use, with this call, is at most the limit of the call. */
    private void checkOwnLimit(SimCall call) {
        int inUse = 0;
        for (SimCall other : call.member.holding.get(call.key)) {
            inUse += other.isHeld() ? other.weight : 0;
        }
        if (plan.limitsAreOfCalls() && !overridden[call.key] && !plan.deferred && inUse > call.limit) {
            throw violation("%d are in use by the process of %s", inUse, call);
        }
    }

    /**
     * A member waits at most one slice and one call longer than in perfect order: so long may the oldest of all waiting
     * calls be passed by, and once more, for the age of a call is known only to within the time of a message. Of several
     * permits a member may take one more before its next claim says that the call it was queued for has been served.
     * Looked at in fair weather only.
     */
    private void checkOrderBetweenMembers(int key) {
        if (plan.severity > 0 || plan.weights || plan.limitsDiffer || plan.overrides || plan.hasGroups()) {
            return;
        }
        SimCall found = null;
        for (SimMember member : members) {
            for (SimCall call : member.waiting.get(key)) {
                if (call.block && !call.ended && (found == null || call.precedes(found))) {
                    found = call;
                }
            }
        }
        if (found != oldest[key]) {
            oldest[key] = found;
            oldestSince[key] = time.now();
        }
        long once = plan.slice + 2 * plan.hold + plan.linger + 8 * plan.slowest;
        long patience = ceiling[key] == 1 ? 2 * once : 3 * once;
        if (found != null && time.now() - oldestSince[key] > patience) {
            throw violation("%s is the oldest of all since %d ms", found, (time.now() - oldestSince[key]) / MILLI);
        }
    }

    /** Members that hand over learn of a lowered limit within a slice or a re-check; looked at in fair weather only. */
    private void checkThatLoweredLimitsAreHeard(int key, @Nullable SimTable table) {
        if (table == null
                || table.override().isEmpty()
                || table.used() <= table.override().getAsInt()
                || plan.chains != null // they hold the inner permit while they wait for a paused outer one
                || plan.severity > 0) {
            overSince[key] = time.now();
            return;
        }
        long patience = plan.recheck + plan.slice + 4 * plan.hold + plan.linger + 10 * plan.slowest;
        if (time.now() - overSince[key] > patience) {
            throw violation(
                    "%d permits of %s are in use above the limit %s since %d ms",
                    table.used(), SimMember.name(key), table.override(), (time.now() - overSince[key]) / MILLI);
        }
    }

    /** Whether a callback that runs now may have been decided when the call arrived. */
    boolean isAsRecentAsCallbacks(SimCall call) {
        return isAsRecentAsCallbacks(call.arrivedAt, call.member);
    }

    /** Whether a callback that runs now may have been decided before then. */
    private boolean isAsRecentAsCallbacks(long at, SimMember member) {
        return time.now() - Math.max(at, member.process.stoppedUntil()) <= SimMember.DEFERRED;
    }

    /** A call was notified that its permit is lost. */
    void lost(SimCall call) {
        int believed = call.weight;
        for (SimCall other : call.member.holding.get(call.key)) {
            believed += other == call || other.lost ? 0 : other.weight;
        }
        boolean lapsed = call.member.process.clock() >= call.member.confirmedUntil[call.key]
                || isAsRecentAsCallbacks(call.member.lapsedAt[call.key], call.member);
        int recorded = recorded(server.find(SimMember.name(call.key)), call.member.process.id);
        if (!lapsed && recorded >= believed && time.now() >= excusedUntil[call.key]) {
            throw violation("%s is notified of a loss, but the store has all %d", call, believed);
        }
    }

    /** A try was answered that there is no permit. */
    void refused(SimCall call) {
        if (plan.severity == 0 && !overridden[call.key] && busyAt[call.key] < call.arrivedAt) {
            throw violation("%s was refused though the key was not used", call);
        }
    }

    // ---- everything, after every event

    void check() {
        if (first != null) {
            throw first;
        }
        if (time.atThisInstant() > 5_000) {
            throw violation("storm: %d events at one instant", time.atThisInstant());
        }
        for (int key = 0; key < ceiling.length; key++) {
            SimTable table = server.find(SimMember.name(key));
            int valid = 0;
            for (SimMember member : members) {
                if (member.isRunning()) {
                    valid += checkMember(member, key, table);
                }
            }
            if (time.now() >= excusedUntil[key] && valid > ceiling[key]) {
                throw violation(
                        "%d permits of %s are held validly, the limit is %d", valid, SimMember.name(key), ceiling[key]);
            }
            checkForStall(key, table);
            checkOrderBetweenMembers(key);
            checkThatLoweredLimitsAreHeard(key, table);
            if (waiting(key) > 1 || (table != null && table.used() > 0)) {
                busyAt[key] = time.now();
            }
        }
    }

    private int waiting(int key) {
        int waiting = 0;
        for (SimMember member : members) {
            waiting += member.waiting.get(key).size();
        }
        return waiting;
    }

    private int checkMember(SimMember member, int key, @Nullable SimTable table) {
        String name = SimMember.name(key);
        int valid = 0;
        for (SimCall call : member.holding.get(key)) {
            if (call.permit != null && call.permit.isHeld()) {
                valid += call.weight;
            }
        }
        if (valid > 0 && member.process.clock() >= member.confirmedUntil[key]) {
            throw violation("%s believes to hold %s longer than the store has confirmed", member, name);
        }
        KeyQueueState state = Peek.state(member.engine, name);
        if (state == null) {
            if (valid > 0) {
                throw violation("%s holds %s but has forgotten the key", member, name);
            }
            return 0;
        }
        Ledger ledger = state.ledger;
        if (ledger.inUse() > ledger.granted() || valid > ledger.inUse()) {
            throw violation(
                    "%s: %d valid, %d in use, %d granted of %s", member, valid, ledger.inUse(), ledger.granted(), name);
        }
        for (SentClaim claim : Peek.sent(state)) {
            if (claim.sequence > ledger.appliedSequence() && ledger.granted() > claim.held) {
                throw violation(
                        "%s: %d granted of %s, but claim %d leaves only %d",
                        member, ledger.granted(), name, claim.sequence, claim.held);
            }
        }
        if (ledger.granted() > 0
                && time.now() >= excusedUntil[key]
                && Peek.registry(member.engine).now() < state.validUntil()) {
            int recorded = recorded(table, member.process.id);
            if (ledger.granted() > recorded) {
                throw violation("%s: %d granted of %s, but the store has %d", member, ledger.granted(), name, recorded);
            }
        }
        return valid;
    }

    private int recorded(@Nullable SimTable table, String member) {
        SimTable.Row row = table == null ? null : table.row(member);
        return row == null || row.expiry() <= server.clock() ? 0 : row.permits();
    }

    /** How many permits are free under the lowest limit in effect. */
    int free(int key) {
        SimTable table = server.find(SimMember.name(key));
        int limit = Integer.MAX_VALUE;
        for (SimMember member : members) {
            limit = Math.min(limit, member.limits[key]);
        }
        if (table == null) {
            return limit;
        }
        int used = 0;
        for (SimTable.Row row : table.rows()) {
            used += row.expiry() <= server.clock() ? 0 : row.permits();
        }
        return table.override().orElse(limit) - used;
    }

    /** Whether the member is running, and what is sent to it arrives. */
    boolean isReached(SimMember member) {
        if (member.isRunning() && member.process.isStopped()) {
            weather.trouble(member.process.stoppedUntil());
        }
        return member.isRunning() && !member.link.deaf;
    }

    /** Calls wait since then although they could be served, by so many keys. */
    void mayStallSince(long since, int keys, String what) {
        long from = Math.max(since, weather.lastTrouble());
        if (time.now() - from > keys * patience) {
            throw violation("%s could be served, since %d ms", what, (time.now() - from) / MILLI);
        }
    }

    /** A free permit and a live waiter never coexist for long. */
    private void checkForStall(int key, @Nullable SimTable table) {
        int heaviest = 0;
        int limit = 0; // the highest: those with a lower one do not block the others
        long oldest = Long.MAX_VALUE; // of those with the highest limit
        for (SimMember member : members) {
            if (!member.isRunning()) {
                continue;
            }
            if (member.process.isStopped()) {
                weather.trouble(member.process.stoppedUntil());
            }
            if (member.link.deaf) {
                continue;
            }
            for (SimCall call : member.waiting.get(key)) {
                if (call.block && !call.ended) {
                    heaviest = Math.max(heaviest, call.weight);
                    int own = limitFor(call);
                    oldest = own < limit ? oldest : Math.min(own > limit ? Long.MAX_VALUE : oldest, call.arrivedAt);
                    limit = Math.max(limit, own);
                }
            }
        }
        int used = 0;
        if (table != null) {
            for (SimTable.Row row : table.rows()) {
                used += row.expiry() <= server.clock() ? 0 : row.permits();
            }
        }
        if (heaviest == 0 || limit - used < heaviest) {
            stalledSince[key] = Long.MAX_VALUE;
            return;
        }
        stalledSince[key] = Math.min(stalledSince[key], time.now());
        long since = Math.max(Math.max(stalledSince[key], oldest), weather.lastTrouble());
        if (plan.limitsAreOfCalls()) {
            // while it applied they may have stated the lowest of their limits, so that an answer shows its end
            since = Math.max(since, limitHeardBy[key]);
        }
        if (time.now() - since > patience) {
            throw violation(
                    "%d of %d permits of %s are in use and a call waits for %d, since %d ms",
                    used, limit, SimMember.name(key), heaviest, (time.now() - since) / MILLI);
        }
    }
}
