package com.example;

import static io.github.distributedpermit.test.PermitAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permits;
import io.github.distributedpermit.test.AutoConfigureDistributedPermit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest
@AutoConfigureDistributedPermit
class ExporterTest {

    @Autowired
    private Exporter exporter;

    @Autowired
    private Permits permits;

    @Test
    void takesAPermitOfItsTenantAndReturnsIt() {
        assertThat(exporter.export("acme")).isEqualTo("exported for acme");
        assertThat(permits).ofName("export").wasCalledWithKey("export-acme").hasReleasedAll();
    }
}
