package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import java.util.Objects;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A bean that is advised twice takes its permits once. */
class TwiceAdvisedTest {

    private final ApplicationContextRunner twice = local().withUserConfiguration(SecondCreator.class);

    @Test
    void callOfABeanWithTwoProxiesTakesOnePermit() {
        twice.withBean(Service.class).run(context -> {
            Service service = context.getBean(Service.class);
            for (int i = 0; i < 3; i++) {
                assertThat(service.call(() -> free(context.getBean(Permits.class))))
                        .isEqualTo("permits free: 0");
            }
            assertThat(free(context.getBean(Permits.class))).isEqualTo("permits free: 1");
        });
    }

    @Test
    void beanBehindItsInterfaceIsLimitedOnce() {
        twice.withPropertyValues("spring.aop.proxy-target-class=false")
                .withBean(Task.class, () -> new Task() {
                    @Override
                    public @Nullable Object run(Supplier<?> work) {
                        return work.get();
                    }
                })
                .run(context -> assertThat(context.getBean(Task.class).run(() -> "done"))
                        .isEqualTo("done"));
    }

    @Test
    void callThroughTheProxiesFromWithinTakesAPermitOfItsOwn() {
        twice.withBean(Service.class).run(context -> {
            Service service = context.getBean(Service.class);
            assertThatExceptionOfType(PermitRejectedException.class)
                    .isThrownBy(() -> service.call(() -> service.call(() -> "inner")));
            assertThat(service.call(() -> "again")).isEqualTo("again");
        });
    }

    @Test
    void callOfAnotherBeanOfTheClassTakesAPermitOfItsOwn() {
        twice.withBean("one", Service.class).withBean("two", Service.class).run(context -> {
            Service one = context.getBean("one", Service.class);
            Service two = context.getBean("two", Service.class);
            assertThatExceptionOfType(PermitRejectedException.class)
                    .isThrownBy(() -> one.call(() -> two.call(() -> "inner")));
        });
    }

    @Test
    void adviceBetweenTheProxiesMayRepeatTheCall() {
        local().withBean(Service.class).run(context -> {
            Service inner = context.getBean(Service.class);
            ProxyFactory factory = new ProxyFactory(inner);
            factory.setProxyTargetClass(true);
            factory.addAdvisor(context.getBean(PermitAdvisor.class));
            factory.addAdvice((MethodInterceptor) invocation -> {
                Object target = Objects.requireNonNull(invocation.getThis());
                Object first = invocation.getMethod().invoke(target, invocation.getArguments());
                return first + ", " + invocation.getMethod().invoke(target, invocation.getArguments());
            });
            assertThat(((Service) factory.getProxy()).call(() -> "done")).isEqualTo("done, done");
        });
    }

    private static String free(Permits permits) {
        try {
            return "permits free: "
                    + permits.named("once")
                            .tryAcquire("once")
                            .map(permit -> {
                                permit.release();
                                return 1;
                            })
                            .orElse(0);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** As Shiro and others bring it along. */
    @Configuration
    static class SecondCreator {

        @Bean
        static DefaultAdvisorAutoProxyCreator second() {
            return new DefaultAdvisorAutoProxyCreator();
        }
    }

    static class Service {

        @DistributedPermit(key = "once", limit = 1, timeout = "200ms")
        public @Nullable Object call(Supplier<?> work) {
            return work.get();
        }
    }

    interface Task {

        @DistributedPermit(key = "task", limit = 1, timeout = "200ms")
        @Nullable
        Object run(Supplier<?> work);
    }
}
