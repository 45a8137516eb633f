package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.aop.async.ContextCapture;
import io.github.distributedpermit.aop.async.HoldStrategy;
import io.github.distributedpermit.aop.async.ListenerHold;
import io.github.distributedpermit.aop.async.ListenerThreads;
import io.github.distributedpermit.aop.async.MinimumHolds;
import io.github.distributedpermit.spi.TimeSource;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.task.TaskDecorator;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The permits of every limited method, checked and defined once, then cached. Thread-safe. Knows the bean factory but
 * asks it for nothing until the first limited bean is made, so that nothing is created too early.
 */
public final class PermitOperations {

    private static final Log log = LogFactory.getLog(PermitOperations.class);

    private final MinimumHolds minimumHolds;
    private final PermitOperationFactory factory;
    private final HoldStrategies strategies;
    private final ListenerThreads listeners = new ListenerThreads();
    private final Map<BeanMethod, LimitedMethod> byMethod = new ConcurrentHashMap<>();
    private final Map<Class<?>, Set<Method>> limited = new ConcurrentHashMap<>();
    private final AtomicLong changes = new AtomicLong();
    private final Set<Class<?>> checked = ConcurrentHashMap.newKeySet();

    /** Whether all permits are known that beans made at start declare, so that an unknown name is a mistake. */
    private volatile boolean complete;

    /** For the beans of this factory. */
    public PermitOperations(ConfigurableBeanFactory beanFactory) {
        ObjectProvider<TimeSource> time = beanFactory.getBeanProvider(TimeSource.class);
        this.minimumHolds = new MinimumHolds(SingletonSupplier.of(() -> time.getIfAvailable(() -> TimeSource.SYSTEM)));
        this.factory = new PermitOperationFactory(
                new AnnotationReader(beanFactory),
                beanFactory.getBeanProvider(PermitCatalog.class),
                beanFactory,
                minimumHolds);
        this.strategies = new HoldStrategies(
                new ContextCapture(() -> beanFactory
                        .getBeanProvider(TaskDecorator.class)
                        .orderedStream()
                        .toList()),
                listeners);
    }

    /** The threads of consumers on which a message waits for its permit, and not the thread. */
    public ListenerThreads listeners() {
        return listeners;
    }

    /** The application starts, perhaps again: permits are held for their minimum times. */
    public void beginMinimumHolds() {
        minimumHolds.begin();
    }

    /** The application shuts down: permits whose work has ended are returned although their minimum time has not passed. */
    public void endMinimumHolds() {
        minimumHolds.end();
    }

    /** What a call needs. */
    LimitedMethod of(Method method, Class<?> beanType) {
        BeanMethod key = new BeanMethod(method, beanType);
        LimitedMethod cached = byMethod.get(key);
        if (cached != null) {
            return cached;
        }
        long begun = changes.get();
        Class<?> type = ClassUtils.getUserClass(beanType);
        Method specific = AopUtils.getMostSpecificMethod(method, beanType);
        List<PermitOperation> operations = factory.make(method, type);
        HoldStrategy strategy = strategies.of(specific, type);
        if (strategy instanceof ListenerHold && operations.stream().anyMatch(PermitOperation::interruptOnLoss)) {
            strategy = null; // its thread waits, since only a thread that waits itself is interrupted
        }
        LimitedMethod made = new LimitedMethod(specific, type, operations, strategy);
        refuseInterruptOfLaterWork(made);
        refuseJoinOfLaterWork(made);
        if (complete) {
            factory.nestedLimits(byMethod.values()).ifPresent(limits -> limits.check(made));
        }
        byMethod.put(key, made);
        while (changes.get() != begun) { // it may have been read before a change, and stored after that
            begun = changes.get();
            byMethod.computeIfPresent(key, (bean, known) -> renewed(known));
        }
        return byMethod.getOrDefault(key, made);
    }

    /**
     * Checks that all methods known so far can be limited by changed settings.
     *
     * @param effective the definition of a declaration under these settings
     * @throws InvalidPermitException if one cannot
     */
    public void check(UnaryOperator<PermitDefinition> effective) {
        for (LimitedMethod each : byMethod.values()) {
            for (PermitOperation operation : each.operations()) {
                PermitOperationFactory.rejectedAnswer(operation, effective.apply(operation.declared()), each.method());
            }
        }
    }

    /** The names of the permits of all methods known so far. */
    public Set<String> names() {
        return byMethod.values().stream()
                .flatMap(each -> each.operations().stream())
                .map(operation -> operation.definition().name())
                .collect(Collectors.toSet());
    }

    /** Checks which permits lie within which, once the beans are made that declare them. */
    void checkNestedLimits() {
        complete = true;
        factory.nestedLimits(byMethod.values()).ifPresent(NestedLimits::check);
    }

    /** Checks fallbacks on other beans, once these are made. */
    void checkFallbacks(ConfigurableBeanFactory beans) {
        for (LimitedMethod each : byMethod.values()) {
            for (PermitOperation operation : each.operations()) {
                if (operation.answer() instanceof BeanFallback fallback) {
                    fallback.check(beans, operation.declared().origin());
                }
            }
        }
    }

    /** Settings have changed: the methods that are known already get their definitions again. */
    public void settingsChanged() {
        changes.incrementAndGet();
        byMethod.replaceAll((bean, known) -> renewed(known));
    }

    private LimitedMethod renewed(LimitedMethod known) {
        try {
            return known.with(known.operations().stream()
                    .map(operation -> factory.renew(operation, known.method()))
                    .toList());
        } catch (RuntimeException e) {
            log.warn("%s keeps the settings that it had: %s".formatted(known.description(), e.getMessage()));
            return known;
        }
    }

    /** The work of such a method has no thread of its own that could be interrupted. */
    private static void refuseInterruptOfLaterWork(LimitedMethod made) {
        if (made.strategy() != null && made.operations().stream().anyMatch(PermitOperation::interruptOnLoss)) {
            throw new InvalidPermitException(
                    "%s: onLoss = INTERRUPT of @DistributedPermit is for methods that are done when they return"
                            .formatted(made.description()),
                    "Leave it out, and use onLoss or isHeld of Permits.current() in the method");
        }
    }

    /** The caller's permit may be returned before the work of such a method ends. */
    private static void refuseJoinOfLaterWork(LimitedMethod made) {
        HoldStrategy strategy = made.strategy();
        if (strategy != null
                && !strategy.endsWithinTheCaller()
                && made.operations().stream().anyMatch(PermitOperation::reentrant)) {
            throw new InvalidPermitException(
                    "%s: reentrant = true of @DistributedPermit is for methods that are done when they return and for reactive types, since other work may outlive the permit of its caller"
                            .formatted(made.description()),
                    "Leave it out, or return a Mono or a Flux");
        }
    }

    /**
     * Checks every limited method of a bean's class and defines its permits.
     *
     * @throws InvalidPermitException if a method's annotation cannot work
     */
    void check(Class<?> beanType) {
        Class<?> type = ClassUtils.getUserClass(beanType);
        if (!checked.contains(type)) {
            Set<Method> methods = limitedMethods(type);
            methods.forEach(method -> of(method, type));
            if (checked.add(type) && !methods.isEmpty()) {
                PlacementWarnings.check(type, methods);
            }
        }
    }

    /**
     * Defines the permits of beans that are not made yet, as far as their classes are known. What cannot work is refused
     * when the bean is made.
     */
    public void defineFutureBeans(ConfigurableListableBeanFactory beans) {
        for (String name : beans.getBeanDefinitionNames()) {
            Class<?> type = beans.containsSingleton(name) ? null : beans.getType(name, false);
            if (type != null) {
                try {
                    check(type);
                } catch (InvalidPermitException e) {
                    log.debug("The permits of bean '" + name + "' cannot be defined yet", e);
                }
            }
        }
    }

    /** Whether a class has limited methods. */
    boolean limits(Class<?> beanType) {
        return !limitedMethodsOf(beanType).isEmpty();
    }

    /** The limited methods of the class of a bean. */
    Set<Method> limitedMethodsOf(Class<?> beanType) {
        return limitedMethods(ClassUtils.getUserClass(beanType));
    }

    /** Looked up for every bean by the check and again by the pointcut, so remembered. */
    private Set<Method> limitedMethods(Class<?> type) {
        return PermitAnnotations.mayBeOn(type)
                ? limited.computeIfAbsent(type, PermitOperations::findLimitedMethods)
                : Set.of();
    }

    /** The limited methods of a class. */
    static Set<Method> findLimitedMethods(Class<?> type) {
        if (!PermitAnnotations.mayBeOn(type)) {
            return Set.of();
        }
        return MethodIntrospector.selectMethods(
                type, (Method method) -> !PermitAnnotations.of(method, type).isEmpty());
    }

    /** A method as called on beans of a class; a proxy always comes with the same object, which is then not looked into. */
    private record BeanMethod(Method method, Class<?> type) {

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof BeanMethod that
                    && type == that.type
                    && (method == that.method || method.equals(that.method));
        }

        @Override
        public int hashCode() {
            return 31 * method.hashCode() + type.hashCode();
        }
    }
}
