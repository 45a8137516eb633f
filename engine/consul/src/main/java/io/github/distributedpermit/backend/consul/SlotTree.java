package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import io.github.distributedpermit.spi.step.Step;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A permit key in layout slots: each permit is a key of Consul, the slot, that is locked by the session of its holder. Consul
 * deletes the slots of a session that ends, so that each one here belongs to a member that is alive.
 *
 * <p>Immutable. {@link SlotPlan} computes the changes. The number of a slot has no meaning besides its order; the
 * number of slots is the sum of the permits.
 *
 * @param guard of the queue; missing while the key is idle, or since the member that made it has died
 * @param slots by number
 */
record SlotTree(KeyEntries entries, @Nullable Guard guard, NavigableMap<Integer, Slot> slots) implements KeyTree {

    /** Three digits, so that names sort by number and limits end at 1000. */
    private static final Pattern SLOT_NUMBER = Pattern.compile("[0-9]{3}");

    /**
     * The guard. Its index changes with every change of the queue.
     *
     * @param limit that all members which took a permit since the last change of the guard use
     * @param json all of it, also what this version does not know
     */
    record Guard(int limit, long index, JsonObject json) {}

    /** @param limit that its holder used when it got the slot */
    record Slot(int number, String session, String member, int limit, long index) {}

    /**
     * Reads a tree; what is damaged, or not ours under a name of ours, fails permanently. Entries of other names
     * below the key are ignored, since a newer version may have written them.
     */
    static SlotTree of(KeyNames names, List<KeyValue> tree) {
        KeyEntries entries = KeyEntries.of(names, tree);
        KeyValue guard = entries.guard();
        NavigableMap<Integer, Slot> slots = new TreeMap<>();
        entries.others().forEach((name, entry) -> {
            if (name.equals(KeyNames.LOCK_FILE)) {
                throw KeyEntries.ofOtherLayout(entry, "lock-file");
            }
            if (name.startsWith(KeyNames.SLOT)) {
                Slot slot = KeyEntries.parse(entry, e -> slot(name.substring(KeyNames.SLOT.length()), e));
                slots.put(slot.number(), slot);
            }
        });
        return new SlotTree(entries, guard == null ? null : KeyEntries.parse(guard, SlotTree::parseGuard), slots);
    }

    /** The session that has locked the guard does not matter for a change of it. */
    private static Guard parseGuard(KeyValue entry) {
        JsonObject json = Format.read(entry);
        return new Guard(json.count("limit"), entry.modified(), json);
    }

    /** A slot without a session belongs to no member and would never be freed, so that it is reported as damaged. */
    private static Slot slot(String number, KeyValue entry) {
        String session = entry.session();
        if (session == null || !SLOT_NUMBER.matcher(number).matches()) {
            throw new MalformedJsonException("a slot has a number and a session");
        }
        JsonObject json = Format.read(entry);
        return new Slot(Integer.parseInt(number), session, json.text("member"), json.count("limit"), entry.modified());
    }

    /** The limit of a holder is the highest of its slots, because it may have been raised between two grants. */
    @Override
    public Map<String, Held> held() {
        Map<String, Held> held = new HashMap<>();
        slots.values().forEach(slot -> held.merge(slot.session(), new Held(1, slot.limit()), Held::plus));
        return held;
    }

    @Override
    public int used() {
        return slots.size();
    }

    /** Sessions that hold a slot are alive, since Consul would have deleted it otherwise. */
    @Override
    public Set<String> holdingMembers() {
        return slots.values().stream().map(Slot::session).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** With the index of its last change: a slot that was deleted and taken again is another permit. */
    @Override
    public Set<String> permitNames(String session) {
        return slotsOf(session).stream()
                .map(slot -> slot.number() + "@" + slot.index())
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Counts the slots without building their names, because it is called for each waiting member. */
    @Override
    public int permits(String session) {
        return slotsOf(session).size();
    }

    /** One session can hold any number of slots. */
    @Override
    public Set<String> sessions(String session) {
        return Set.of();
    }

    /** A slot with the same index is the same permit, since every change of it has a new one. */
    @Override
    public List<TxnOperation> proof(String session) {
        return slotsOf(session).stream()
                .map(slot -> TxnOperation.checkIndex(names().slot(slot.number()), slot.index()))
                .toList();
    }

    /** Each change of the queue writes the guard; a slot can also vanish with the session of its holder. */
    @Override
    public List<TxnOperation> unchanged() {
        List<TxnOperation> ops = new ArrayList<>();
        ops.add(
                guard == null
                        ? TxnOperation.checkNotExists(names().guard())
                        : TxnOperation.checkIndex(names().guard(), guard.index()));
        slots.values().forEach(slot -> ops.add(TxnOperation.checkIndex(names().slot(slot.number()), slot.index())));
        return ops;
    }

    /** Fails as a whole if any slot has passed to another member since the tree was read. One that was returned counts as taken. */
    @Override
    public List<TxnOperation> deletion(String session) {
        return slotsOf(session).stream()
                .map(slot -> TxnOperation.deleteCas(names().slot(slot.number()), slot.index()))
                .toList();
    }

    /**
     * Consul deletes the guard with the session that created it. Until another member creates it again, members can
     * enter the queue without a conflict with a grant.
     */
    @Override
    public boolean isGuarded() {
        return guard != null;
    }

    /** The number of a slot is its place: at one index it belongs to one session. */
    @Override
    public OptionalInt lowestPlace(String session) {
        return slotsOf(session).stream().mapToInt(Slot::number).min();
    }

    /** The slots of a session, by number. In ascending order, so that the plan can give back the highest ones. */
    List<Slot> slotsOf(String session) {
        return slots.values().stream()
                .filter(slot -> slot.session().equals(session))
                .toList();
    }

    @Override
    public boolean hasOrphans(String session) {
        return guard != null && slots.isEmpty() && waiting().isEmpty();
    }

    @Override
    public boolean isWithout(String session) {
        return !waiting().containsKey(session) && slotsOf(session).isEmpty();
    }

    @Override
    public Optional<String> holder(String session) {
        return slotsOf(session).stream().map(Slot::member).findFirst();
    }

    @Override
    public PlannedTransaction plan(Step step, ChangeRequest request) {
        return SlotPlan.of(this, step, request);
    }
}
