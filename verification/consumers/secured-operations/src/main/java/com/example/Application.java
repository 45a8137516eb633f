package com.example;

import io.github.distributedpermit.DistributedPermit;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.stereotype.Service;

@SpringBootApplication
public class Application {

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    /** Clients with a password change limits; no browser session does, so that no token against CSRF is needed. */
    @Bean
    SecurityFilterChain actuator(HttpSecurity http) throws Exception {
        return http.securityMatcher("/actuator/**")
                .authorizeHttpRequests(requests -> requests.anyRequest().hasRole("OPERATOR"))
                .httpBasic(Customizer.withDefaults())
                .csrf(csrf -> csrf.disable())
                .build();
    }

    @Service
    static class Exporter {

        @DistributedPermit(key = "export", limit = 2, block = false)
        public String export() {
            return "exported";
        }
    }
}
