package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.Step;
import java.util.concurrent.CompletableFuture;

/** Drops a member's record of a key, and serves the line with what it held. */
final class Departure {

    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final MemberContext member;
    private final String path;
    private final Link link;

    Departure(MemberContext member, String path, Link link) {
        this.member = member;
        this.path = path;
        this.link = link;
    }

    CompletableFuture<Void> begin() {
        attempt(0);
        return done;
    }

    private void attempt(int number) {
        member.nodes().read(link.zk(), path).whenComplete((snapshot, failure) -> {
            if (failure != null) {
                done.completeExceptionally(failure);
            } else {
                leave(snapshot, number);
            }
        });
    }

    private void leave(Snapshot snapshot, int number) {
        KeyTable table = snapshot.table();
        Step step = table.leave(member.member(), 0);
        Draft draft = Draft.of(snapshot, table, step);
        if (snapshot.children().isEmpty() || draft.isUnchanged()) {
            done.complete(null);
            return;
        }
        member.nodes()
                .commit(link.zk(), draft.operations(member.nodes(), path, null, null, member::random))
                .whenComplete((stat, failure) -> {
                    if (failure == null) {
                        done.complete(null);
                    } else if (Faults.isConflict(failure)) {
                        member.retry(number + 1, () -> attempt(number + 1));
                    } else {
                        done.completeExceptionally(failure);
                    }
                });
    }
}
