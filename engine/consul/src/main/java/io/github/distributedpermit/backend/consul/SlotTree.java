package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.ArrayList;
import java.util.Collection;
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
 * All keys of one permit key, at one moment. Whoever has no live session does not appear: Consul has deleted its keys.
 *
 * @param line the guard; missing while the key is idle, or since the member that made it has died
 * @param override the operator's limit
 * @param slots by number
 * @param waiting members in the queue, by session
 * @param index the highest index of a change that can still be seen
 */
record SlotTree(
        KeyNames names,
        @Nullable Guard line,
        OptionalInt override,
        NavigableMap<Integer, Slot> slots,
        Map<String, QueuedMember> waiting,
        long index)
        implements KeyTree {

    private static final Pattern SLOT_NUMBER = Pattern.compile("[0-9]{3}");

    /**
     * The guard.
     *
     * @param limit that everybody who took a permit since the last change of the guard uses
     * @param json all of it, also what this version does not know
     */
    record Guard(int limit, long index, JsonObject json) {}

    /** @param limit that its holder went by when it got the slot */
    record Slot(int number, String session, String member, int limit, long index) {}

    /** What a member assumes of a key it has not used lately. */
    static SlotTree assumedUnused(KeyNames names) {
        return new SlotTree(names, null, OptionalInt.empty(), new TreeMap<>(), Map.of(), 0);
    }

    /** Reads a tree; what is damaged, or not ours under a name of ours, fails permanently. */
    static SlotTree of(KeyNames names, List<KeyValue> tree) {
        Guard line = null;
        OptionalInt override = OptionalInt.empty();
        NavigableMap<Integer, Slot> slots = new TreeMap<>();
        Map<String, QueuedMember> waiting = new HashMap<>();
        long index = 0;
        for (KeyValue entry : tree) {
            String name = entry.key().substring(names.tree().length());
            if (name.indexOf('/') >= 0) {
                continue; // of an application whose prefix begins with the name of this key
            }
            index = Math.max(index, entry.modified());
            try {
                if (name.equals(KeyNames.LINE)) {
                    JsonObject json = Format.read(entry);
                    line = new Guard(json.count("limit"), entry.modified(), json);
                } else if (name.equals(KeyNames.OVERRIDE)) {
                    override = OptionalInt.of(Json.object(entry.value()).count("limit"));
                } else if (name.startsWith(KeyNames.SLOT)) {
                    Slot slot = slot(name.substring(KeyNames.SLOT.length()), entry);
                    slots.put(slot.number(), slot);
                } else if (name.startsWith(KeyNames.WAITING)) {
                    waiting.put(
                            name.substring(KeyNames.WAITING.length()),
                            QueuedMember.of(name.substring(KeyNames.WAITING.length()), entry));
                } else if (name.equals(KeyNames.LOCK_FILE)) {
                    throw PermitStoreException.permanent(
                            "Consul's key " + entry.key() + " belongs to layout lock-file; "
                                    + "all members of a key must use one layout",
                            null);
                }
            } catch (MalformedJsonException e) {
                throw PermitStoreException.permanent(
                        "Consul's key " + entry.key() + " is damaged or not ours; nothing was written. "
                                + "Delete it if no client needs it",
                        e);
            }
        }
        return new SlotTree(names, line, override, slots, waiting, index);
    }

    private static Slot slot(String number, KeyValue entry) {
        String session = entry.session();
        if (session == null || !SLOT_NUMBER.matcher(number).matches()) {
            throw new MalformedJsonException("a slot has a number and a session");
        }
        JsonObject json = Format.read(entry);
        return new Slot(Integer.parseInt(number), session, json.text("member"), json.count("limit"), entry.modified());
    }

    @Override
    public KeyTable table() {
        Map<String, List<Slot>> held = new HashMap<>();
        slots.values()
                .forEach(slot -> held.computeIfAbsent(slot.session(), s -> new ArrayList<>())
                        .add(slot));
        List<PermitRecord> records = new ArrayList<>();
        held.forEach((session, theirs) -> {
            if (!waiting.containsKey(session)) {
                int limit = theirs.stream().mapToInt(Slot::limit).max().orElseThrow();
                records.add(QueuedMember.holder(session, theirs.size(), limit));
            }
        });
        waiting.forEach((session, w) ->
                records.add(w.record(held.getOrDefault(session, List.of()).size())));
        return KeyTable.ofSessions(records, override, 0);
    }

    @Override
    public Optional<PermitRecord> record(String session) {
        List<Slot> held = slotsOf(session);
        QueuedMember queued = waiting.get(session);
        if (queued != null) {
            return Optional.of(queued.record(held.size()));
        }
        return held.stream()
                .map(Slot::limit)
                .max(Integer::compare)
                .map(limit -> QueuedMember.holder(session, held.size(), limit));
    }

    @Override
    public int used() {
        return slots.size();
    }

    @Override
    public int permits(String session) {
        return slotsOf(session).size();
    }

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

    /** One session can hold any number of slots. */
    @Override
    public Set<String> sessions(String session) {
        return Set.of();
    }

    @Override
    public List<TxnOperation> proof(String session) {
        return slotsOf(session).stream()
                .map(slot -> TxnOperation.checkIndex(names.slot(slot.number()), slot.index()))
                .toList();
    }

    @Override
    public boolean isGuarded() {
        return line != null;
    }

    @Override
    public OptionalInt lowestPlace(String session) {
        return slotsOf(session).stream().mapToInt(Slot::number).min();
    }

    /** The slots of a session, by number. */
    List<Slot> slotsOf(String session) {
        return slots.values().stream()
                .filter(slot -> slot.session().equals(session))
                .toList();
    }

    @Override
    public boolean isWithout(String session) {
        return !waiting.containsKey(session) && slotsOf(session).isEmpty();
    }

    @Override
    public String member(String session) {
        QueuedMember inLine = waiting.get(session);
        if (inLine != null) {
            return inLine.member();
        }
        Collection<Slot> held = slotsOf(session);
        return held.isEmpty() ? session : held.iterator().next().member();
    }
}
