package com.example.page;

import io.github.distributedpermit.Permits;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.config.annotation.web.configurers.CsrfConfigurer;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** The application behind Spring Security with its protection against CSRF: viewers may read, an operator may change. */
@Configuration(proxyBeanMethods = false)
@EnableWebSecurity
public class SecuredWorkers extends Workers {

    /** Uses these permits. */
    public SecuredWorkers(Permits permits) {
        super(permits);
    }

    @Bean
    SecurityFilterChain security(HttpSecurity http) throws Exception {
        return http.authorizeHttpRequests(requests -> requests.requestMatchers(HttpMethod.GET)
                        .hasAnyRole("VIEWER", "OPERATOR")
                        .anyRequest()
                        .hasRole("OPERATOR"))
                .httpBasic(Customizer.withDefaults())
                .csrf(CsrfConfigurer::spa)
                .build();
    }

    @Bean
    UserDetailsService users() {
        return new InMemoryUserDetailsManager(
                User.withUsername("viewer")
                        .password("{noop}viewer")
                        .roles("VIEWER")
                        .build(),
                User.withUsername("operator")
                        .password("{noop}operator")
                        .roles("OPERATOR")
                        .build());
    }
}
