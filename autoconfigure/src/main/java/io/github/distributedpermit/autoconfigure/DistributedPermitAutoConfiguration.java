package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.aop.PermitOperations;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.health.HealthProbe;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of {@link DistributedPermit}: the backend, the engine behind {@link Permits}, the advice, and an
 * orderly shutdown. A bean of type {@link PermitBackend} of the application wins over the backends that come with it.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.autoconfigure.aop.AopAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.cloud.consul.ConsulAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "distributed-permit.enabled", matchIfMissing = true)
@EnableConfigurationProperties(DistributedPermitProperties.class)
@Import({
    RedisBackendConfiguration.class,
    ConsulBackendConfiguration.class,
    ZooKeeperBackendConfiguration.class,
    JdbcBackendConfiguration.class,
    LocalBackendConfiguration.class,
    NoBackendConfiguration.class,
    AdviceConfiguration.class,
    HttpGroupsConfiguration.class,
    GrpcConfiguration.class,
    ListenerConfiguration.class,
    LimitedExecutors.class,
    SpringCloudRefreshConfiguration.class
})
public final class DistributedPermitAutoConfiguration {

    /** Name or qualifier of the application's bean that runs what follows from asynchronous calls. */
    static final String EXECUTOR = "distributedPermitExecutor";

    /** Name of the engine, which users get as {@link Permits} by another bean. */
    static final String ENGINE = "distributedPermitEngine";

    private static final String BOOTS_EXECUTOR = "applicationTaskExecutor";

    @Bean
    MemberFactory distributedPermitMembers(DistributedPermitProperties properties, Environment environment) {
        return new MemberFactory(properties.instanceName(), environment.getProperty("spring.application.name"));
    }

    /**
     * What users let follow from asynchronous calls runs on the executor {@value #EXECUTOR} of the application if it has
     * one, else on Boot's {@code applicationTaskExecutor}, which has virtual threads if the application has switched them
     * on.
     */
    @Bean
    PermitThreads distributedPermitThreads(
            @Qualifier(EXECUTOR) ObjectProvider<Executor> own,
            @Qualifier(BOOTS_EXECUTOR) ObjectProvider<Executor> boots) {
        return new PermitThreads(own.getIfAvailable(boots::getIfAvailable));
    }

    @Bean
    SettingsWarnings distributedPermitSettingsWarnings(ConfigurableEnvironment environment) {
        return new SettingsWarnings(environment);
    }

    @Bean
    NamedSettings distributedPermitNamedSettings(
            DistributedPermitProperties properties, ConfigurableEnvironment environment, SettingsWarnings warnings) {
        return NamedSettings.of(
                properties.defaults(), properties.permits(), environment, new SettingsReader(properties), warnings);
    }

    /** A bean of this type replaces all of them, for tests. */
    @Bean
    @ConditionalOnMissingBean
    CoreSettings distributedPermitCoreSettings(DistributedPermitProperties properties, NamedSettings permits) {
        return new SettingsReader(properties).core(permits);
    }

    @Bean(ENGINE)
    @Fallback
    @ConditionalOnMissingBean(Permits.class)
    PermitEngine distributedPermitEngine(
            PermitBackend backend,
            MemberFactory members,
            ObjectProvider<PermitObserver> observers,
            PermitThreads threads,
            ObjectProvider<TimeSource> time,
            CoreSettings settings,
            NamedSettings named,
            ConfigurableEnvironment environment) {
        new FrozenSettings(environment).checkEnabled(backend);
        TimeSource replaced = time.getIfAvailable();
        PermitEngine engine = new PermitEngine(
                backend,
                members,
                settings,
                named.defaults(),
                named.named(),
                CoreEnvironment.of(
                        replaced == null ? System::nanoTime : replaced::nanoTime,
                        threads.scheduler(replaced),
                        threads.continuations(),
                        threads.notices(),
                        new Observers(observers.orderedStream().toList())));
        engine.obeyPauses(members.application());
        return engine;
    }

    @Bean
    @ConditionalOnSingleCandidate(value = PermitEngine.class, search = SearchStrategy.CURRENT)
    Permits distributedPermits(PermitEngine engine) {
        return new EnginePermits(engine);
    }

    /** The engine may be that of a parent. Not lazy, since nothing else asks for it. */
    @Bean
    @Lazy(false)
    @ConditionalOnSingleCandidate(PermitEngine.class)
    AnnotationsOnChange distributedPermitAnnotationsOnChange(PermitEngine engine, PermitOperations operations) {
        return new AnnotationsOnChange(engine, operations);
    }

    @Bean
    @ConditionalOnSingleCandidate(value = PermitEngine.class, search = SearchStrategy.CURRENT)
    PermitSettingsRefresh distributedPermitSettingsRefresh(
            PermitEngine engine,
            ConfigurableEnvironment environment,
            DistributedPermitProperties properties,
            CoreSettings settings,
            SettingsWarnings warnings,
            NamedSettings present) {
        return new PermitSettingsRefresh(
                engine, environment, new SettingsReader(properties), settings.commandTimeout(), warnings, present);
    }

    @Bean
    @ConditionalOnSingleCandidate(value = PermitEngine.class, search = SearchStrategy.CURRENT)
    WhenReady distributedPermitUnusedSettingsWarning(
            PermitEngine engine,
            NamedSettings settings,
            PermitOperations operations,
            ConfigurableListableBeanFactory beanFactory) {
        UnusedSettings unused = new UnusedSettings(engine, settings, operations);
        return new WhenReady(() -> unused.warn(beanFactory));
    }

    @Bean
    @ConditionalOnSingleCandidate(value = PermitEngine.class, search = SearchStrategy.CURRENT)
    RejectWaitersInTime distributedPermitRejectWaitersInTime(
            PermitEngine engine, PermitThreads threads, Environment environment) {
        Duration drain = Binder.get(environment)
                .bind("spring.lifecycle.timeout-per-shutdown-phase", Duration.class)
                .orElse(Duration.ofSeconds(30));
        return new RejectWaitersInTime(engine, threads.scheduler(null), drain);
    }

    /**
     * Rejects the calls that still wait when the web server has drained its requests. Until then calls are served as before: requests,
     * messages and jobs that the application has accepted may need more permits. Calls that hold permits go on, and later ones
     * get a permit if one is free. The phase is between Boot's two steps for a web server: at {@code DEFAULT_PHASE - 1024} it waits for
     * its requests, also for those whose calls wait for permits, and 1024 below that it stops, also if not all have ended. Schedulers,
     * executors and the containers of message listeners stop before both. The engine of a parent outlives this context.
     */
    @Bean
    @ConditionalOnSingleCandidate(value = PermitEngine.class, search = SearchStrategy.CURRENT)
    ContextLifecycle distributedPermitQueueEnd(PermitEngine engine) {
        return ContextLifecycle.of(SmartLifecycle.DEFAULT_PHASE - 1024 - 512, () -> {}, engine::shutdown);
    }

    @Bean
    @ConditionalOnSingleCandidate(value = PermitEngine.class, search = SearchStrategy.CURRENT)
    StoreMembership distributedPermitStoreMembership(
            PermitEngine engine,
            DistributedPermitProperties properties,
            CoreSettings settings,
            PermitThreads threads,
            ConfigurableApplicationContext context) {
        Optional<HealthProbe> probe = properties.failFast()
                ? Optional.of(new HealthProbe(engine::checkHealth, settings.commandTimeout()))
                : Optional.empty();
        BackendChoice choice = BackendChoice.of(context.getEnvironment(), context.getClassLoader());
        return new StoreMembership(engine, probe, threads.leaving(), choice, context::isClosed);
    }

    /** What looks at the permits of this instance now and then: the warnings of long calls, and tasks of other configurations. */
    @Bean
    @ConditionalOnSingleCandidate(value = PermitEngine.class, search = SearchStrategy.CURRENT)
    RepeatedTasks distributedPermitWatch(
            PermitEngine engine,
            PermitThreads threads,
            ObjectProvider<TimeSource> time,
            DistributedPermitProperties properties,
            ObjectProvider<WatchTask> others) {
        TimeSource replaced = time.getIfAvailable();
        List<RepeatedTasks.Task> tasks = new ArrayList<>();
        LongSupplier clock = replaced == null ? System::nanoTime : replaced::nanoTime;
        LongCallsWarning warning = new LongCallsWarning(
                engine::gauges, engine::calls, engine::limitInForce, new SettingsReader(properties).log(), clock);
        if (warning.isOn()) {
            tasks.add(new RepeatedTasks.Task(warning.pause(), warning::check));
        }
        for (WatchTask other : others.orderedStream().toList()) {
            other.task(engine).ifPresent(tasks::add);
        }
        return new RepeatedTasks(threads.scheduler(replaced), tasks);
    }
}
