package io.github.distributedpermit.sample.it;

import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ConsulLockFileIT extends ConsulLayoutLaws {

    ConsulLockFileIT() {
        super("lock-file");
    }

    @Override
    @Test
    @Order(Integer.MAX_VALUE)
    @Tag("slow")
    void permitsOfAKilledInstanceServeTheOtherWithinTwiceTheTtl() {
        super.permitsOfAKilledInstanceServeTheOtherWithinTwiceTheTtl();
    }
}
