package io.github.distributedpermit.backend.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentMap;
import org.apache.zookeeper.Op;

/** Takes the member out of keys it no longer uses, many with one transaction. Confined to the member's thread. */
final class IdleSweep {

    private static final int MOST_PER_TRANSACTION = 100;

    private final ConcurrentMap<String, KeyChannel> channels;
    private final MemberContext member;
    private final long idle;

    IdleSweep(ConcurrentMap<String, KeyChannel> channels, MemberContext member, long idle) {
        this.channels = channels;
        this.member = member;
        this.idle = idle;
    }

    void run(Link link) {
        long now = member.now();
        List<Leaver> leavers = new ArrayList<>();
        for (KeyChannel channel : channels.values()) {
            if (!channel.beginLeaving(now, idle)) {
                continue;
            }
            String node = channel.own().leave();
            if (node == null) {
                left(channel, true);
            } else {
                leavers.add(new Leaver(channel, node));
            }
            if (leavers.size() == MOST_PER_TRANSACTION) {
                leave(link, leavers);
                leavers = new ArrayList<>();
            }
        }
        if (!leavers.isEmpty()) {
            leave(link, leavers);
        }
    }

    private void leave(Link link, List<Leaver> leavers) {
        List<Op> deletes =
                leavers.stream().map(leaver -> Op.delete(leaver.node(), -1)).toList();
        member.nodes().commit(link.zk(), deletes).whenComplete((done, failure) -> {
            for (Leaver leaver : leavers) {
                if (failure == null) {
                    gone(link, leaver);
                } else {
                    leaveAlone(link, leaver);
                }
            }
        });
    }

    /** One of them could not; the others can. */
    private void leaveAlone(Link link, Leaver leaver) {
        member.nodes().delete(link.zk(), leaver.node()).whenComplete((done, failure) -> {
            if (failure == null || Faults.isMissing(failure)) {
                gone(link, leaver);
            } else {
                leaver.channel().own().stay();
                left(leaver.channel(), false);
            }
        });
    }

    private void gone(Link link, Leaver leaver) {
        leaver.channel().own().unwatch(link.zk(), leaver.node());
        left(leaver.channel(), true);
    }

    private void left(KeyChannel channel, boolean gone) {
        if (channel.left(gone)) {
            channels.remove(channel.key(), channel);
        }
    }

    private record Leaver(KeyChannel channel, String node) {}
}
