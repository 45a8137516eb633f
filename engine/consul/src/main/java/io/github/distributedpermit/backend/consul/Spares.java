package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.TxnOutcome.Done;
import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import io.github.distributedpermit.spi.Member;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Further sessions of a member, for a layout in which one session can hold only one permit. However many are wanted, a
 * few are made at a time: Consul takes 200 connections from a client. Confined to the loop.
 */
final class Spares {

    private static final int AT_A_TIME = 16;

    private final ConsulApi api;
    private final Loop loop;
    private final Member member;
    private final Gate gate = new Gate(AT_A_TIME);

    Spares(ConsulApi api, Loop loop, Member member) {
        this.api = api;
        this.loop = loop;
        this.member = member;
    }

    /** Makes further sessions of this member; they live and end with the first. After a failure no more are begun. */
    CompletableFuture<Void> make(Session current, int count) {
        CompletableFuture<?>[] all = new CompletableFuture<?>[count];
        CompletableFuture<Void> failed = new CompletableFuture<>();
        for (int i = 0; i < count; i++) {
            all[i] = gate.enter(() -> failed.isCompletedExceptionally() ? failed : one(current))
                    .whenComplete((done, problem) -> {
                        if (problem != null) {
                            failed.completeExceptionally(problem);
                        }
                    });
        }
        return CompletableFuture.allOf(all);
    }

    private CompletableFuture<Void> one(Session current) {
        if (current.isOver()) {
            return CompletableFuture.failedFuture(Session.lost());
        }
        Pulse pulse = current.pulse();
        Object ticket = pulse.asked(loop.now());
        return api.createSession("distributed-permit " + member.name() + " (permit)")
                .whenComplete((id, problem) -> {
                    if (id == null) {
                        pulse.none(ticket);
                    } else {
                        pulse.made(ticket, id);
                    }
                })
                .thenCompose(id -> note(current, id));
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
            current.pulse().gone(spare);
            api.destroySession(spare);
            if (outcome instanceof Refused refused) {
                throw Membership.refused(refused);
            }
            throw problem == null ? Session.lost() : Membership.asStoreException(problem);
        });
    }
}
