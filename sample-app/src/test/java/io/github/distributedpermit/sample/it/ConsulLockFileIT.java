package io.github.distributedpermit.sample.it;

import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class ConsulLockFileIT extends ConsulLayoutLaws {

    ConsulLockFileIT() {
        super("lock-file");
    }

    @Override
    @Test
    @Order(Integer.MAX_VALUE)
    void permitsOfAKilledInstanceServeTheOtherWithinTwiceTheTtl() {
        super.permitsOfAKilledInstanceServeTheOtherWithinTwiceTheTtl();
    }
}
