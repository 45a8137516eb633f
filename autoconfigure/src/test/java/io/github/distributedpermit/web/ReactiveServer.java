package io.github.distributedpermit.web;

import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.ReactorResourceFactory;

/** How tests run Reactor Netty. */
@Configuration(proxyBeanMethods = false)
class ReactiveServer {

    /** Of the test's own, since the end of one application would end the event loops of all. */
    @Bean
    ReactorResourceFactory reactorResourceFactory() {
        ReactorResourceFactory resources = new ReactorResourceFactory();
        resources.setUseGlobalResources(false);
        return resources;
    }

    /**
     * A connection for each request. Reactor Netty 1.3.7 sometimes leaves the next request of a connection unread when another
     * thread than the connection's has ended the answer before, also without a permit: one of some twenty after an error.
     */
    @Bean
    WebServerFactoryCustomizer<NettyReactiveWebServerFactory> connections() {
        return factory -> factory.addServerCustomizers(server -> server.maxKeepAliveRequests(1));
    }
}
