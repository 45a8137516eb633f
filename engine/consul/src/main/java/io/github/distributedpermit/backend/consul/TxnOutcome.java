package io.github.distributedpermit.backend.consul;

import java.util.List;
import java.util.Locale;

/**
 * How a transaction ended that Consul has answered: with all of its operations, or with none. Immutable.
 *
 * <p>{@link ConsulApi} creates it. A transaction that was not answered has no outcome here; it fails with {@link
 * ConsulApi.OutcomeUnknownException}.
 */
sealed interface TxnOutcome {

    /**
     * It was done.
     *
     * @param written the entries of all operations but the last
     * @param tree the entries of the last operation, a {@code get-tree}
     */
    record Done(List<KeyValue> written, List<KeyValue> tree) implements TxnOutcome {}

    /**
     * Nothing of it was done. Consul's reasons have no codes, so that they are classified by their words.
     *
     * @param operations which were refused; the first comes first
     * @param reason of the first, in Consul's words
     */
    record Refused(List<Integer> operations, String reason) implements TxnOutcome {

        /** Characters of a reason in a message. */
        private static final int SHOWN = 200;

        /** The operation that was refused first. */
        int operation() {
            return operations.get(0);
        }

        /** A right is missing. A token that was deleted has another text than one that lacks a right. */
        boolean isDenied() {
            String text = reason.toLowerCase(Locale.ROOT);
            return text.contains("permission denied") || text.contains("acl not found");
        }

        /** A session that the transaction names has ended. */
        boolean isInvalidSession() {
            return reason.contains("invalid session");
        }

        /** Used with the name of a key or the id of a session, which Consul repeats in its reason. */
        boolean names(String text) {
            return reason.contains(text);
        }

        /**
         * Another member has changed what the transaction checks. Only known words count: a refusal of an unknown kind would
         * otherwise be repeated without end.
         */
        boolean isConflict() {
            return reason.contains("index")
                    || reason.contains("lock")
                    || reason.contains("exist")
                    || reason.contains("session check");
        }

        String shown() {
            return reason.length() > SHOWN ? reason.substring(0, SHOWN) + "..." : reason;
        }
    }
}
