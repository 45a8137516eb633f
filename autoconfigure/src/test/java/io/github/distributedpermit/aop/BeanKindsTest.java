package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.aspectj.lang.annotation.Aspect;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.InfrastructureAdvisorAutoProxyCreator;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;

/** Every kind of bean is either limited or refused. */
@ExtendWith(OutputCaptureExtension.class)
class BeanKindsTest {

    @Test
    void singletonIsDefinedAtStart() {
        local().withBean(Limited.class).run(context -> {
            assertThat(context.getBean(PermitCatalog.class).find("bean")).isPresent();
            assertLimited(context.getBean(Limited.class), context.getBean(Permits.class));
        });
    }

    @Test
    void lazyBeanIsCheckedWhenItIsMade() {
        local().withUserConfiguration(Others.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThatExceptionOfType(BeanCreationException.class)
                    .isThrownBy(() -> context.getBean("lazyInvalid"))
                    .withStackTraceContaining("Invalid.call()");
            assertLimited((Limited) context.getBean("lazyLimited"), context.getBean(Permits.class));
        });
    }

    @Test
    void prototypeIsCheckedWhenItIsMade() {
        local().withUserConfiguration(Others.class).run(context -> {
            for (int i = 0; i < 2; i++) {
                assertThatExceptionOfType(BeanCreationException.class)
                        .isThrownBy(() -> context.getBean("prototypeInvalid"))
                        .withStackTraceContaining("Invalid.call()");
            }
            assertLimited((Limited) context.getBean("prototypeLimited"), context.getBean(Permits.class));
        });
    }

    @Test
    void wholeApplicationMayBeLazy() {
        local().withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .withBean(Limited.class)
                .run(context -> assertLimited(context.getBean(Limited.class), context.getBean(Permits.class)));
    }

    @Test
    void productOfAFactoryBeanIsLimitedThroughItsInterface() {
        local().withBean(ClientFactory.class).run(context -> {
            Client client = context.getBean(Client.class);
            assertThat(client.call()).isEqualTo("answer");
            assertThat(context.getBean(PermitCatalog.class).find("client")).isPresent();
            try (Permit taken = context.getBean(Permits.class).acquire("client")) {
                assertThat(taken.isHeld()).isTrue();
                assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(client::call);
            }
        });
    }

    @Test
    void beansAreLimitedThroughInterfaceProxiesToo(CapturedOutput output) {
        local().withPropertyValues("spring.aop.proxy-target-class=false")
                .withBean("client", Client.class, ClientOfMine::new)
                .run(context -> {
                    Client client = context.getBean(Client.class);
                    assertThat(Proxy.isProxyClass(client.getClass())).isTrue();
                    assertThat(client.call()).isEqualTo("mine");
                    try (Permit taken = context.getBean(Permits.class).acquire("client")) {
                        assertThat(taken.isHeld()).isTrue();
                        assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(client::call);
                    }
                    assertThat(output).doesNotContain("is NOT limited");
                });
    }

    /** Such a bean would run without a limit, and nothing would say so. */
    @ParameterizedTest
    @CsvSource({
        "LimitedAspect, an @Aspect",
        "LimitedInterceptor, a MethodInterceptor",
        "LimitedAdvisor, an Advisor",
        "LimitedPointcut, a Pointcut",
        "LimitedInfrastructure, an AopInfrastructureBean",
        "LimitedByItsType, an @Aspect"
    })
    void beanThatSpringNeverProxiesStopsTheStart(String type, String kind) throws ClassNotFoundException {
        Class<?> bean = Class.forName(BeanKindsTest.class.getName() + "$" + type);
        assertThat(Contexts.refusal(bean))
                .hasMessageContaining("@DistributedPermit on call()")
                .hasMessageContaining(bean.getName())
                .hasMessageContaining(kind)
                .hasMessageContaining("Move the method to another bean")
                .hasMessageContaining("the bean Permits");
    }

    @Test
    void aspectIsLimitedWhereSpringDoesNotTreatItAsOne() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration.class))
                .withPropertyValues("distributed-permit.backend=local", "spring.aop.auto=false")
                .withBean(LimitedAspect.class)
                .run(context -> {
                    try (Permit taken = context.getBean(Permits.class).acquire("aspect")) {
                        assertThat(taken.isHeld()).isTrue();
                        assertThatExceptionOfType(PermitRejectedException.class)
                                .isThrownBy(context.getBean(LimitedAspect.class)::call);
                    }
                });
    }

    /** The starter does not bring AspectJ; an application may. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void beansAreLimitedWithoutAspectJ(boolean classProxies) {
        local().withClassLoader(new FilteredClassLoader("org.aspectj"))
                .withPropertyValues("spring.aop.proxy-target-class=" + classProxies)
                .withBean(Limited.class)
                .withBean("client", Client.class, ClientOfMine::new)
                .run(context -> {
                    assertThat(context.getBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME))
                            .isExactlyInstanceOf(InfrastructureAdvisorAutoProxyCreator.class);
                    assertLimited(context.getBean(Limited.class), context.getBean(Permits.class));
                    Client client = context.getBean(Client.class);
                    assertThat(Proxy.isProxyClass(client.getClass())).isEqualTo(!classProxies);
                    try (Permit taken = context.getBean(Permits.class).acquire("client")) {
                        assertThat(taken.isHeld()).isTrue();
                        assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(client::call);
                    }
                });
    }

    @Test
    void beansAreLimitedWithoutBootsOwnAop() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration.class))
                .withPropertyValues("distributed-permit.backend=local", "spring.aop.auto=false")
                .withBean(Limited.class)
                .run(context -> assertLimited(context.getBean(Limited.class), context.getBean(Permits.class)));
    }

    @Test
    void beanMadeTooEarlyIsWarnedAbout(CapturedOutput output) {
        local().withUserConfiguration(TooEarly.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(output).contains("'tooEarly' is NOT limited by @DistributedPermit");
        });
    }

    /** Spring's auto-proxy creator is registered after all post-processors that are {@code Ordered} have been made. */
    @Test
    void beanOfAnOrderedPostProcessorIsWarnedAbout(CapturedOutput output) {
        local().withUserConfiguration(TooEarlyForTheAdvice.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(AopUtils.isAopProxy(context.getBean(Limited.class))).isFalse();
            assertThat(output).containsOnlyOnce("is NOT limited").contains("'tooEarly' is NOT limited");
        });
    }

    /** Its target is made with the first call, and limited. */
    @Test
    void earlyScopedProxyIsNotWarnedAbout(CapturedOutput output) {
        local().withUserConfiguration(EarlyScopedProxy.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(output).doesNotContain("is NOT limited");
            assertThat(AopUtils.isAopProxy(context.getBean("scopedTarget.limited")))
                    .isTrue();
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {TooEarly.class, TooEarlyForTheAdvice.class})
    void eachOfTwoBeansOfAClassIsLookedAt(Class<?> configuration, CapturedOutput output) {
        local().withUserConfiguration(configuration)
                .withBean("inTime", Limited.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(AopUtils.isAopProxy(context.getBean("tooEarly"))).isFalse();
                    assertLimited(context.getBean("inTime", Limited.class), context.getBean(Permits.class));
                    assertThat(output).containsOnlyOnce("is NOT limited").contains("'tooEarly' is NOT limited");
                });
    }

    @Test
    void productOfAFactoryBeanIsWarnedAboutToo(CapturedOutput output) {
        local().withUserConfiguration(TooEarlyProduct.class).run(context -> {
            assertThat(AopUtils.isAopProxy(context.getBean(Client.class))).isFalse();
            assertThat(output).containsOnlyOnce("is NOT limited").contains("'tooEarly' is NOT limited");
        });
    }

    @Test
    void beanThatIsMadeEarlyWithTheAdviceIsLimited(CapturedOutput output) {
        local().withUserConfiguration(EarlyWithAdvice.class).run(context -> {
            assertLimited(context.getBean(Limited.class), context.getBean(Permits.class));
            assertThat(output).doesNotContain("is NOT limited");
        });
    }

    private static void assertLimited(Limited bean, Permits permits) throws InterruptedException {
        bean.call();
        try (Permit taken = permits.acquire("bean")) {
            assertThat(taken.isHeld()).isTrue();
            assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(bean::call);
        }
    }

    public static class Limited {
        @DistributedPermit(key = "bean", limit = 1, block = false)
        public void call() {}
    }

    static class Invalid {
        @DistributedPermit(limit = 0)
        public void call() {}
    }

    public interface Client {
        @DistributedPermit(key = "client", limit = 1, block = false)
        String call();
    }

    public static class ClientOfMine implements Client {
        @Override
        public String call() {
            return "mine";
        }
    }

    static class ClientFactory implements FactoryBean<Client> {
        @Override
        public Client getObject() {
            return (Client) Proxy.newProxyInstance(
                    Client.class.getClassLoader(), new Class<?>[] {Client.class}, (proxy, method, args) -> "answer");
        }

        @Override
        public Class<?> getObjectType() {
            return Client.class;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Others {
        @Bean
        @Lazy
        Invalid lazyInvalid() {
            return new Invalid();
        }

        @Bean
        @Lazy
        Limited lazyLimited() {
            return new Limited();
        }

        @Bean
        @Scope("prototype")
        Invalid prototypeInvalid() {
            return new Invalid();
        }

        @Bean
        @Scope("prototype")
        Limited prototypeLimited() {
            return new Limited();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TooEarly {
        @Bean
        static Limited tooEarly() {
            return new Limited();
        }

        @Bean
        static EarlyPostProcessor earlyPostProcessor(@Qualifier("tooEarly") Limited limited) {
            return new EarlyPostProcessor(limited);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TooEarlyForTheAdvice {
        @Bean
        static Limited tooEarly() {
            return new Limited();
        }

        @Bean
        static OrderedPostProcessor orderedPostProcessor(@Qualifier("tooEarly") Limited limited) {
            return new OrderedPostProcessor(limited);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TooEarlyProduct {
        @Bean
        static ClientFactory tooEarly() {
            return new ClientFactory();
        }

        @Bean
        static OrderedPostProcessor orderedPostProcessor(Client client) {
            return new OrderedPostProcessor(client);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class EarlyScopedProxy {
        @Bean
        @Scope(value = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
        static Limited limited() {
            return new Limited();
        }

        @Bean
        static OrderedPostProcessor orderedPostProcessor(Limited limited) {
            return new OrderedPostProcessor(limited);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class EarlyWithAdvice {
        @Bean
        static Limited early(PermitAdvisor advisor) {
            ProxyFactory factory = new ProxyFactory(new Limited());
            factory.setProxyTargetClass(true);
            factory.addAdvisor(advisor);
            return (Limited) factory.getProxy();
        }

        @Bean
        static OrderedPostProcessor orderedPostProcessor(Limited limited) {
            return new OrderedPostProcessor(limited);
        }
    }

    record EarlyPostProcessor(Limited limited) implements BeanPostProcessor, PriorityOrdered {
        @Override
        public int getOrder() {
            return HIGHEST_PRECEDENCE;
        }
    }

    record OrderedPostProcessor(Object limited) implements BeanPostProcessor, Ordered {
        @Override
        public int getOrder() {
            return LOWEST_PRECEDENCE;
        }
    }

    @Aspect
    static class LimitedAspect {
        @DistributedPermit(key = "aspect", limit = 1, block = false)
        public void call() {}
    }

    @Aspect
    @DistributedPermit(key = "aspect", limit = 1, block = false)
    static class LimitedByItsType {
        public void call() {}
    }

    static class LimitedInterceptor implements MethodInterceptor {
        @Override
        public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
            return invocation.proceed();
        }

        @DistributedPermit(key = "interceptor", limit = 1, block = false)
        public void call() {}
    }

    static class LimitedAdvisor extends DefaultPointcutAdvisor {
        private static final long serialVersionUID = 1L;

        LimitedAdvisor() {
            super(new LimitedPointcut(), new LimitedInterceptor());
        }

        @DistributedPermit(key = "advisor", limit = 1, block = false)
        public void call() {}
    }

    static class LimitedPointcut extends StaticMethodMatcherPointcut {
        @Override
        public boolean matches(Method method, Class<?> type) {
            return false;
        }

        @DistributedPermit(key = "pointcut", limit = 1, block = false)
        public void call() {}
    }

    static class LimitedInfrastructure implements AopInfrastructureBean {
        @DistributedPermit(key = "infrastructure", limit = 1, block = false)
        public void call() {}
    }
}
