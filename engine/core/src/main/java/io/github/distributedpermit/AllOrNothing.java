package io.github.distributedpermit;

import java.util.ArrayList;
import java.util.List;

/**
 * Takes the permits of several keys for one call: one request for each key, in an order that is the same in all
 * processes, see {@link RequestsInOrder}. So two calls of this kind never wait for each other. Gives back what it has if it does not get all. Confined to the
 * calling thread.
 */
final class AllOrNothing {

    private final RequestsInOrder requests;
    private final List<Permit> taken = new ArrayList<>();

    private AllOrNothing(RequestsInOrder requests) {
        this.requests = requests;
    }

    static PermitGroup acquire(RequestsInOrder requests) throws InterruptedException {
        return new AllOrNothing(requests).acquire();
    }

    private PermitGroup acquire() throws InterruptedException {
        boolean complete = false;
        try {
            for (int i = 0; i < requests.size(); i++) {
                taken.add(requests.named(i).acquire(requests.request(i)));
            }
            PermitGroup group = new PermitGroup(taken);
            complete = true;
            return group;
        } finally {
            if (!complete) {
                PermitGroup.releaseAll(taken);
            }
        }
    }
}
