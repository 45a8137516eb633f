package io.github.distributedpermit.harness.member;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.autoconfigure.DistributedPermitProperties;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.harness.history.EventLog;
import io.github.distributedpermit.harness.history.Metronome;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import org.apache.curator.framework.CuratorFramework;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/**
 * An application that does nothing but take permits, told by its master what to do: one command per line of its input,
 * one answer per line of its output. Ends with its master.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
@Import({OwnClient.class, OwnDatabase.class, InRedis.class})
public class MemberMain {

    /** The name of the permits, and the beginning of their keys. */
    public static final String NAME = "load";

    /** Claims are repeated sooner than with the settings of an application, so that a run sees it more often. */
    @Bean
    CoreSettings settings(DistributedPermitProperties properties, Environment environment) {
        return CoreSettings.DEFAULTS.toBuilder()
                .lease(properties.lease())
                .commandTimeout(
                        Duration.ofMillis(environment.getRequiredProperty("harness.command-timeout", Long.class)))
                .build();
    }

    private static final int ROUNDS = 20;
    private static final Duration A_SECOND = Duration.ofSeconds(1);

    /**
     * Runs it.
     *
     * @param arguments number of the member, the history's file and capacity, then settings of the application
     */
    public static void main(String[] arguments) throws Exception {
        int number = Integer.parseInt(arguments[0]);
        EventLog log = EventLog.open(Path.of(arguments[1]), Integer.parseInt(arguments[2]));
        ConfigurableApplicationContext context = new SpringApplicationBuilder(MemberMain.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .logStartupInfo(false)
                .run(Arrays.copyOfRange(arguments, 3, arguments.length));
        PermitEngine engine = context.getBean(PermitEngine.class);
        Commands commands = new Commands(number, log, engine, context.getBeanProvider(CuratorFramework.class));
        warmUp(engine.named(NAME));
        Metronome.startIn(number, log);
        answer("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("quit")) {
                SpringApplication.exit(context);
                answer("gone");
                System.exit(0);
            }
            answer(commands.run(line));
        }
        Runtime.getRuntime().halt(1); // the harness has ended: no further command can come
    }

    /** So that the first calls are as good as all others: the store is connected and the classes are loaded. */
    public static void warmUp(NamedPermits permits) throws InterruptedException {
        String key = NAME + "-warm-" + ProcessHandle.current().pid();
        int well = 0;
        while (well < ROUNDS) {
            try {
                permits.acquire(PermitRequest.of(key).withTimeout(A_SECOND)).release();
                well++;
            } catch (PermitBackendException | PermitRejectedException e) {
                well = 0;
            }
        }
    }

    private static synchronized void answer(String text) throws IOException {
        System.out.write((text + "\n").getBytes(StandardCharsets.UTF_8));
        System.out.flush();
    }
}
