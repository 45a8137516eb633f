package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import java.util.List;
import java.util.Locale;

/**
 * How a transaction ended that Consul has answered: with all of its operations, or with none. Immutable.
 *
 * <p>A transaction that was not answered has no outcome here; it fails with {@link ConsulApi.OutcomeUnknownException}.
 */
sealed interface TxnOutcome {

    /**
     * Consul answers operations in their order; those that delete or check absence have no result. Throws {@link
     * MalformedJsonException} if the answer does not fit the operations, so that it may not be Consul's.
     */
    static TxnOutcome of(List<TxnOperation> ops, JsonObject json) {
        List<JsonObject> errors = json.objects("Errors");
        if (!errors.isEmpty()) {
            List<Integer> operations =
                    errors.stream().map(error -> error.count("OpIndex")).toList();
            if (operations.stream().anyMatch(operation -> operation >= ops.size())) {
                throw new MalformedJsonException("It refuses an operation that the transaction does not have");
            }
            return new Refused(operations, errors.get(0).text("What"));
        }
        if (!json.has("Results")) {
            throw new MalformedJsonException("It has neither results nor errors");
        }
        List<KeyValue> entries = json.objects("Results").stream()
                .map(result -> KeyValue.of(result.object("KV")))
                .toList();
        TxnOperation last = ops.get(ops.size() - 1);
        // The rest of the entries is the tree.
        List<TxnOperation> written = ops.subList(0, ops.size() - 1).stream()
                .filter(TxnOperation::answered)
                .toList();
        if (entries.size() < written.size()) {
            throw new MalformedJsonException(
                    "It has %d results of %d; does the ACL token have the right to read the keys?"
                            .formatted(entries.size(), written.size()));
        }
        List<KeyValue> tree = entries.subList(written.size(), entries.size());
        for (int i = 0; i < written.size(); i++) {
            if (!entries.get(i).key().equals(written.get(i).key())) {
                throw new MalformedJsonException("It has results of other keys");
            }
        }
        if (!tree.stream().allMatch(entry -> entry.key().startsWith(last.key()))) {
            throw new MalformedJsonException("It has keys of another tree");
        }
        return new Done(entries.subList(0, written.size()), tree);
    }

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

        /** A key that the transaction needs does not exist. The reason also quotes the key, which may contain a single word. */
        boolean isMissingKey() {
            return reason.contains("doesn't exist");
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
