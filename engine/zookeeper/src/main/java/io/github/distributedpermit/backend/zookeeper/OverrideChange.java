package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.Step;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/** Sets or lifts the operator's limit of a key, and serves the line. */
final class OverrideChange {

    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final MemberContext member;
    private final String key;
    private final OptionalInt limit;

    OverrideChange(MemberContext member, String key, OptionalInt limit) {
        this.member = member;
        this.key = key;
        this.limit = limit;
    }

    CompletableFuture<Void> begin(Link link) {
        attempt(link, 0);
        return done;
    }

    private void attempt(Link link, int number) {
        member.nodes().read(link.zk(), member.nodes().path(key)).whenComplete((snapshot, failure) -> {
            if (failure != null) {
                fail(failure);
            } else {
                change(link, snapshot, number);
            }
        });
    }

    private void change(Link link, Snapshot snapshot, int number) {
        KeyTable table = snapshot.table();
        Step step = table.override(limit, 0);
        Draft draft = Draft.of(snapshot, table, step);
        if (draft.isUnchanged() || table.isEmpty() && snapshot.children().isEmpty()) {
            done.complete(null);
            return;
        }
        member.nodes()
                .commit(
                        link.zk(),
                        draft.operations(member.nodes(), member.nodes().path(key), null, null, member::random))
                .whenComplete((stat, failure) -> {
                    if (failure == null) {
                        done.complete(null);
                    } else if (!snapshot.exists() && Faults.isMissing(failure)) {
                        member.nodes().createRoot(link.zk()).whenComplete((made, e) -> {
                            if (e == null) {
                                attempt(link, number + 1);
                            } else {
                                fail(e);
                            }
                        });
                    } else if (Faults.isConflict(failure)) {
                        member.retry(number + 1, () -> attempt(link, number + 1));
                    } else {
                        fail(failure);
                    }
                });
    }

    private void fail(Throwable failure) {
        done.completeExceptionally(Faults.translate(key, failure));
    }
}
