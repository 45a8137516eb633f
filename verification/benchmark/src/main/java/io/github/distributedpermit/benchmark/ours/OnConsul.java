package io.github.distributedpermit.benchmark.ours;

import io.github.distributedpermit.backend.consul.ConsulPermitBackend;
import io.github.distributedpermit.backend.consul.ConsulSettings;
import io.github.distributedpermit.core.CoreSettings;
import java.net.URI;

/** This project on Consul, layout slots. */
public final class OnConsul {

    private OnConsul() {}

    /** One member. */
    public static OurContender contender(int port) {
        ConsulSettings settings = ConsulSettings.of(URI.create("http://127.0.0.1:" + port), "distributed-permit");
        return new OurContender(new ConsulPermitBackend(settings), CoreSettings.DEFAULTS, () -> {});
    }
}
