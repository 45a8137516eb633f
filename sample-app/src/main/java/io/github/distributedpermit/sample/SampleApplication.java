package io.github.distributedpermit.sample;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;

/** Starts an instance of the report-export service. */
@SpringBootApplication
@EnableScheduling
public class SampleApplication {

    /** Takes Spring Boot's arguments, such as {@code --server.port=8081}. */
    public static void main(String[] args) {
        SpringApplication.run(SampleApplication.class, args);
    }
}
