package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.Holding;
import java.util.Map;
import java.util.Optional;

/**
 * What a member that was served finds in its inbox.
 *
 * @param slot the lowest of its slots
 * @param nonce different each time
 */
record Notice(int permits, int limit, boolean contended, boolean over, int slot, String nonce) {

    Notice(Holding holding, int slot, String nonce) {
        this(holding.permits(), holding.limit(), holding.contended(), holding.over(), slot, nonce);
    }

    String text() {
        return Format.text(Map.of(
                "permits",
                permits,
                "limit",
                limit,
                "contended",
                contended,
                "over",
                over,
                "slot",
                slot,
                "nonce",
                nonce));
    }

    /** Nothing if only newer versions may use it. */
    static Optional<Notice> of(String text) {
        JsonObject json = Json.object(text);
        return Format.of(json).isReadable() ? Optional.of(of(json)) : Optional.empty();
    }

    private static Notice of(JsonObject json) {
        return new Notice(
                json.count("permits"),
                json.count("limit"),
                json.flag("contended"),
                json.flag("over"),
                json.count("slot"),
                json.text("nonce"));
    }

    Holding holding(long sequence, long version) {
        return new Holding(permits, limit, sequence, version, contended, over, Optional.empty());
    }
}
