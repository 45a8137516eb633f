package io.github.distributedpermit.contract;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** What a network does to a message. */
public enum Fault {
    CLAIM_LOST,
    CLAIM_DELAYED,
    CLAIM_DOUBLED,
    CLAIM_REORDERED,
    ANSWER_LOST,
    ANSWER_DELAYED,
    /** The answer comes once more, as a notice. */
    ANSWER_DOUBLED,
    ANSWER_REORDERED,
    NOTICE_LOST,
    NOTICE_DELAYED,
    NOTICE_DOUBLED,
    NOTICE_REORDERED;

    /** What travels. */
    enum Kind {
        CLAIM,
        ANSWER,
        NOTICE;

        Fault lost() {
            return Fault.valueOf(name() + "_LOST");
        }

        Fault delayed() {
            return Fault.valueOf(name() + "_DELAYED");
        }

        Fault doubled() {
            return Fault.valueOf(name() + "_DOUBLED");
        }

        Fault reordered() {
            return Fault.valueOf(name() + "_REORDERED");
        }
    }

    /** How often each fault really hit. Thread-safe. */
    static final class Counts {

        private final Map<Fault, LongAdder> hits = new ConcurrentHashMap<>();

        void hit(Fault fault) {
            hits.computeIfAbsent(fault, f -> new LongAdder()).increment();
        }

        boolean hasHit(Fault fault) {
            return hits.containsKey(fault);
        }

        Set<Fault> missing(Set<Fault> expected) {
            Set<Fault> missing = EnumSet.copyOf(expected);
            missing.removeAll(hits.keySet());
            return missing;
        }

        @Override
        public String toString() {
            return new TreeMap<>(hits).toString();
        }
    }
}
