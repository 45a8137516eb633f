package io.github.distributedpermit.http;

import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** A partner, and an application that limits its requests. */
abstract class PartnerTest {

    static final int LENGTH = 200_000;

    Partner partner;
    Permits permits;
    private ConfigurableApplicationContext context;

    @BeforeEach
    void start() throws IOException {
        partner = new Partner();
        context = new SpringApplicationBuilder(DistributedPermitAutoConfiguration.class)
                .web(WebApplicationType.NONE)
                .properties(
                        "distributed-permit.backend=local",
                        "distributed-permit.permits.partner.limit=1",
                        "distributed-permit.permits.partner.block=false",
                        "distributed-permit.permits.patient.limit=1",
                        "distributed-permit.permits.many.limit=1000")
                .run();
        permits = context.getBean(Permits.class);
    }

    @AfterEach
    void stop() {
        context.close();
        partner.close();
    }

    int inUse(String name) {
        return permits.state(name).inUse();
    }
}
