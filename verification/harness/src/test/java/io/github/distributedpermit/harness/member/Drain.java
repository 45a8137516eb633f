package io.github.distributedpermit.harness.member;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.StringJoiner;

/** At rest, as many tries as the limit succeed and one more fails. */
final class Drain {

    private Drain() {}

    /** Takes of each key one permit more than there should be, and gives all back. Answers how many it got of each. */
    static String of(NamedPermits permits, int keys, int limit) throws InterruptedException {
        StringJoiner counts = new StringJoiner(" ", "drained ", "");
        for (int key = 0; key < keys; key++) {
            List<Permit> taken = new ArrayList<>();
            try {
                for (int i = 0; i <= limit; i++) {
                    Optional<Permit> permit = permits.tryAcquire(MemberMain.NAME + "-" + key);
                    permit.ifPresent(taken::add);
                }
            } finally {
                taken.forEach(Permit::release);
            }
            counts.add(Integer.toString(taken.size()));
        }
        return counts.toString();
    }
}
