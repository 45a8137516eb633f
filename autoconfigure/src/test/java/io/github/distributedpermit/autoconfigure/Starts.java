package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.spi.PermitBackend;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

/** Applications that start, and what Boot tells of those that do not. */
final class Starts {

    /** Clients of other stores than Redis, which tests have on their class path all at once. */
    static final String[] OTHER_CLIENTS = {"org.springframework.cloud.consul", "org.apache.curator"};

    private static final Duration PROBE = Duration.ofSeconds(10);

    private Starts() {}

    /** For contexts without proxies, whose classes would have two loaders. */
    static ClassLoader redisOnly() {
        return new FilteredClassLoader(OTHER_CLIENTS);
    }

    /** The clients of all stores are there, and none is chosen yet. */
    static ApplicationContextRunner plain() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class,
                        PropertyPlaceholderAutoConfiguration.class,
                        DistributedPermitAutoConfiguration.class,
                        DistributedPermitHealthAutoConfiguration.class,
                        DistributedPermitMetricsAutoConfiguration.class));
    }

    /**
     * Returns once the store has answered the application. The first claim has to connect, which may take longer than the
     * time-out of one command; a call that does not wait fails then.
     */
    static void connect(ApplicationContext context) {
        PermitEngine engine = context.getBean(PermitEngine.class);
        await().untilAsserted(() -> assertThat(engine.checkHealth()).succeedsWithin(PROBE));
    }

    static ApplicationContextRunner withBackend(PermitBackend backend) {
        return plain().withBean("own", PermitBackend.class, () -> backend);
    }

    static ApplicationContextRunner local() {
        return plain().withPropertyValues("distributed-permit.backend=local");
    }

    /** What Boot prints instead of a stack trace when this application does not start. */
    static FailureAnalysis analysis(ApplicationContextRunner runner) {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        runner.run(context -> failure.set(context.getStartupFailure()));
        Throwable thrown = failure.get();
        assertThat(thrown).as("the start").isNotNull();
        return explain(Objects.requireNonNull(thrown));
    }

    /** What Boot prints instead of this stack trace. */
    static FailureAnalysis explain(Throwable thrown) {
        return SpringFactoriesLoader.forDefaultResourceLocation(Starts.class.getClassLoader())
                .load(FailureAnalyzer.class, FailureHandler.handleMessage((message, cause) -> {}))
                .stream()
                .map(analyzer -> analyzer.analyze(thrown))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("No failure analyzer explains it", thrown));
    }
}
