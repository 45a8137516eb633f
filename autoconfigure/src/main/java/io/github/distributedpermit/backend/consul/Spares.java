package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.TxnOutcome.Done;
import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import io.github.distributedpermit.spi.Member;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Further sessions of a member, for a layout in which one session can hold only one permit. Confined to the loop. */
record Spares(ConsulApi api, Member member) {

    /** Makes further sessions of this member; they live and end with the first. */
    CompletableFuture<Void> make(Session current, int count) {
        CompletableFuture<?>[] all = new CompletableFuture<?>[count];
        for (int i = 0; i < count; i++) {
            all[i] = api.createSession("distributed-permit " + member.name() + " (permit)")
                    .thenCompose(id -> note(current, id));
        }
        return CompletableFuture.allOf(all);
    }

    private CompletableFuture<Void> note(Session current, String spare) {
        String key = current.spareKey(spare);
        List<Op> ops = List.of(
                Op.get(current.fenceKey()),
                Op.lock(key, spare, JsonText.of(Map.of("member", member.id()))),
                Op.getTree(key));
        return api.transact(ops).handle((outcome, problem) -> {
            if (outcome instanceof Done done && !current.isOver()) {
                current.addSpare(spare, done.written().get(1).modified());
                return null;
            }
            api.destroySession(spare);
            if (outcome instanceof Refused refused) {
                throw Membership.refused(refused);
            }
            throw problem == null ? Session.lost() : Membership.asStoreException(problem);
        });
    }
}
