package io.github.distributedpermit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.http.client.autoconfigure.HttpClientAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.imperative.ImperativeHttpClientAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.reactive.ReactiveHttpClientAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.service.HttpServiceClientPropertiesAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.RestClientAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.service.HttpServiceClientAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webclient.autoconfigure.WebClientAutoConfiguration;
import org.springframework.boot.webclient.autoconfigure.service.ReactiveHttpServiceClientAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.service.annotation.GetExchange;
import org.springframework.web.service.registry.HttpServiceGroup.ClientType;
import org.springframework.web.service.registry.ImportHttpServices;

/** Limits of Boot's HTTP service groups by property alone. */
@ExtendWith(OutputCaptureExtension.class)
class HttpGroupsTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    HttpClientAutoConfiguration.class,
                    ImperativeHttpClientAutoConfiguration.class,
                    ReactiveHttpClientAutoConfiguration.class,
                    HttpServiceClientPropertiesAutoConfiguration.class,
                    RestClientAutoConfiguration.class,
                    HttpServiceClientAutoConfiguration.class,
                    WebClientAutoConfiguration.class,
                    ReactiveHttpServiceClientAutoConfiguration.class,
                    DistributedPermitAutoConfiguration.class))
            .withUserConfiguration(Clients.class)
            .withPropertyValues(
                    "distributed-permit.backend=local",
                    "distributed-permit.permits.partner.limit=1",
                    "distributed-permit.permits.partner.block=false");

    @Test
    void requestsOfAGroupTakeItsPermit(CapturedOutput output) throws Exception {
        try (Partner partner = new Partner()) {
            runner.withPropertyValues(
                            "spring.http.serviceclient.stock.base-url=" + partner.url(),
                            "spring.http.serviceclient.prices.base-url=" + partner.url(),
                            "spring.http.serviceclient.other.base-url=" + partner.url(),
                            "distributed-permit.http.stock=partner",
                            "distributed-permit.http.prices=partner")
                    .run(context -> {
                        Stock stock = context.getBean(Stock.class);
                        Prices prices = context.getBean(Prices.class);
                        assertThat(stock.get()).hasSize(9);
                        assertThat(prices.get()).hasSize(9);
                        try (Permit held = context.getBean(Permits.class).acquire("partner")) {
                            assertThatExceptionOfType(PermitRejectedException.class)
                                    .isThrownBy(stock::get);
                            assertThatExceptionOfType(PermitRejectedException.class)
                                    .isThrownBy(prices::get);
                            assertThat(context.getBean(Other.class).get()).hasSize(9);
                        }
                        assertThat(stock.get()).hasSize(9);
                    });
        }
        assertThat(output).doesNotContain("has no effect");
    }

    @Test
    void groupThatDoesNotExistIsRefused() {
        runner.withPropertyValues("distributed-permit.http.stocks=partner")
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidConfigurationPropertyValueException.class)
                        .hasMessageContaining("distributed-permit.http.stocks")
                        .hasMessageContaining("[other, prices, stock]"));
    }

    @Test
    void permitThatDoesNotExistIsRefused() {
        runner.withPropertyValues("distributed-permit.http.stock=partners")
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidConfigurationPropertyValueException.class)
                        .hasMessageContaining("distributed-permit.permits.partners.limit"));
    }

    @Configuration(proxyBeanMethods = false)
    @ImportHttpServices(group = "stock", types = Stock.class)
    @ImportHttpServices(group = "prices", types = Prices.class, clientType = ClientType.WEB_CLIENT)
    @ImportHttpServices(group = "other", types = Other.class)
    static class Clients {}

    interface Stock {

        @GetExchange("/200?9")
        byte[] get();
    }

    interface Prices {

        @GetExchange("/200?9")
        byte[] get();
    }

    interface Other {

        @GetExchange("/200?9")
        byte[] get();
    }
}
