package io.github.distributedpermit.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import io.github.distributedpermit.endpoint.PermitsEndpoint;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

/** Which web stacks have the page. */
class PermitsUiAutoConfigurationTest {

    private static final String EXPOSED = "management.endpoints.web.exposure.include=permitsui";

    private final WebApplicationContextRunner servlet = new WebApplicationContextRunner()
            .withBean(PermitsEndpoint.class, () -> mock(PermitsEndpoint.class))
            .withConfiguration(AutoConfigurations.of(PermitsUiAutoConfiguration.class))
            .withPropertyValues(EXPOSED);

    @Test
    void servletApplicationHasThePage() {
        servlet.run(context -> assertThat(context).hasSingleBean(PermitsUiEndpoint.class));
    }

    @Test
    void webFluxHasThePage() {
        new ReactiveWebApplicationContextRunner()
                .withBean(PermitsEndpoint.class, () -> mock(PermitsEndpoint.class))
                .withConfiguration(AutoConfigurations.of(PermitsUiAutoConfiguration.class))
                .withPropertyValues(EXPOSED)
                .run(context -> assertThat(context).hasSingleBean(PermitsUiEndpoint.class));
    }
}
