package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpServer;
import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.annotation.Id;
import org.springframework.data.redis.core.RedisHash;
import org.springframework.data.redis.repository.configuration.EnableRedisRepositories;
import org.springframework.data.repository.CrudRepository;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.support.RestClientAdapter;
import org.springframework.web.service.annotation.GetExchange;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;

/** Keys of methods that an interface declares, and that a proxy, a lambda or a class with other names implements. */
@ExtendWith(RedisExtension.class)
class InterfaceBeansTest {

    @Test
    void keyOfAnHttpInterfaceNamesItsParameters() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = exchange.getRequestURI().getPath().getBytes(UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            local().withUserConfiguration(HttpClient.class)
                    .withPropertyValues(
                            "shops.url=http://127.0.0.1:" + server.getAddress().getPort())
                    .run(context -> {
                        Shops shops = context.getBean(Shops.class);
                        assertKey(context, "shop-x", () -> shops.items("x"));
                        assertThat(shops.items("y")).isEqualTo("/shops/y");
                        assertKey(context, "all-shops-x", () -> shops.orders("x"));
                        assertThat(shops.orders("y")).isEqualTo("/orders/y");
                    });
        } finally {
            server.stop(0);
        }
    }

    @Test
    void keyOfARepositoryNamesTheParametersOfItsInterface(RedisServer server) {
        local().withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withUserConfiguration(Repositories.class)
                .withPropertyValues("spring.data.redis.port=" + server.port())
                .run(context -> {
                    Profiles profiles = context.getBean(Profiles.class);
                    Profile saved = profiles.save(new Profile(null, "a"));
                    assertKey(context, "profile-a", () -> profiles.save(new Profile(null, "a")));
                    assertThat(profiles.findById(String.valueOf(saved.id()))).contains(saved);
                    profiles.deleteAll();
                });
    }

    @Test
    void keyNamesTheParametersOfTheMethodBesideWhichItIsWritten() {
        local().withBean("ofClass", Renamed.class).run(context -> {
            Tenants tenants = context.getBean("ofClass", Tenants.class);
            assertKey(context, "tenant-x", () -> tenants.call("other", "x"));
            assertThat(tenants.call("x", "other")).isEqualTo("x other");
        });
    }

    @Test
    void keyOfALambdaNamesTheParametersOfItsInterface() {
        local().withUserConfiguration(Lambdas.class).run(context -> {
            Tenants tenants = context.getBean(Tenants.class);
            assertKey(context, "tenant-x", () -> tenants.call("other", "x"));
            Quotes quotes = context.getBean(Quotes.class);
            assertKey(context, "quote-x", () -> quotes.quote("x"));
            assertThat(quotes.quote("y")).isEqualTo("y");
        });
    }

    /** While this key is in use the call is rejected, and then it is not. */
    private static void assertKey(ApplicationContext context, String key, ThrowingCallable call) throws Throwable {
        try (Permit permit =
                context.getBean(Permits.class).named("of-interface").acquire(key)) {
            assertThatExceptionOfType(PermitRejectedException.class)
                    .isThrownBy(call)
                    .satisfies(e -> assertThat(e.key()).isEqualTo(permit.key()));
        }
        call.call();
    }

    interface Shops {

        @GetExchange("/shops/{id}")
        @DistributedPermit(key = "shop-#{#shop}", name = "of-interface", limit = 1, block = false)
        String items(@PathVariable("id") String shop);

        @GetExchange("/orders/{id}")
        @DistributedPermit(key = "all-shops-#{#shop}", name = "of-interface", limit = 1, block = false)
        String orders(@PathVariable("id") String shop);
    }

    @Configuration
    static class HttpClient {

        @Bean
        Shops shops(@Value("${shops.url}") String url) {
            return HttpServiceProxyFactory.builderFor(RestClientAdapter.create(RestClient.create(url)))
                    .build()
                    .createClient(Shops.class);
        }
    }

    @RedisHash("profiles")
    record Profile(@Id @Nullable String id, String code) {}

    interface Profiles extends CrudRepository<Profile, String> {

        @Override
        @DistributedPermit(key = "profile-#{#profile.code()}", name = "of-interface", limit = 1, block = false)
        Profile save(Profile profile);
    }

    @Configuration
    @EnableRedisRepositories(considerNestedRepositories = true)
    static class Repositories {}

    interface Tenants {

        @DistributedPermit(key = "tenant-#{#tenant}", name = "of-interface", limit = 1, block = false)
        String call(String text, String tenant);
    }

    /** With the names the other way round. */
    static class Renamed implements Tenants {

        @Override
        public String call(String tenant, String text) {
            return tenant + " " + text;
        }
    }

    @DistributedPermit(key = "quote-#{#symbol}", name = "of-interface", limit = 1, block = false)
    interface Quotes {

        String quote(String symbol);
    }

    @Configuration
    static class Lambdas {

        @Bean
        Tenants tenants() {
            return (a, b) -> a + b;
        }

        @Bean
        Quotes quotes() {
            return a -> a;
        }
    }
}
