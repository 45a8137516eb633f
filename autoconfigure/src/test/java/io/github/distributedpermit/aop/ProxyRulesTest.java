package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static io.github.distributedpermit.aop.Contexts.refusal;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.DistributedPermit;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;

/** What Spring's proxies would pass by is refused; what they see is not. */
class ProxyRulesTest {

    @Test
    void privateMethodStopsTheStart() {
        assertThat(refusal(PrivateMethod.class))
                .hasMessageContaining("PrivateMethod.call()")
                .hasMessageContaining("is private")
                .hasMessageContaining("bean Permits");
    }

    @Test
    void inheritedPrivateMethodStopsTheStart() {
        assertThat(refusal(HeirOfPrivateMethod.class)).hasMessageContaining("is private");
    }

    @Test
    void staticMethodStopsTheStart() {
        assertThat(refusal(StaticMethod.class))
                .hasMessageContaining("StaticMethod.call()")
                .hasMessageContaining("is static");
    }

    @Test
    void finalMethodStopsTheStart() {
        assertThat(refusal(FinalMethod.class))
                .hasMessageContaining("FinalMethod.call()")
                .hasMessageContaining("method is final")
                .hasMessageContaining("overridable");
    }

    @Test
    void finalMethodOfALimitedTypeStopsTheStart() {
        assertThat(refusal(FinalMethodOfType.class))
                .hasMessageContaining("call()")
                .hasMessageContaining("FinalMethodOfType")
                .hasMessageContaining("method is final")
                .hasMessageContaining("@DistributedPermit.Exempt");
        assertThat(refusal(FinalMethod.class)).hasMessageNotContaining("Exempt");
    }

    /** It may be the method that the limit is for, such as one that calls what the class implements. */
    @Test
    void inheritedFinalMethodOfALimitedTypeStopsTheStart() {
        assertThat(refusal(HeirOfFinalMethod.class))
                .hasMessageContaining("call() in")
                .hasMessageContaining("HeirOfFinalMethod")
                .hasMessageContaining("method is final")
                .hasMessageContaining("annotate the methods to limit instead of the type");
    }

    @Test
    void methodsBesideAnInheritedFinalMethodAreLimitedByThemselves() {
        local().withBean(LimitedMethodOfHeir.class).run(context -> {
            assertThat(context).hasNotFailed();
            LimitedMethodOfHeir bean = context.getBean(LimitedMethodOfHeir.class);
            bean.limited(() -> assertThat(Contexts.isFree(context, "heir")).isFalse());
            assertThat(Contexts.isFree(context, "heir")).isTrue();
        });
    }

    @Test
    void finalClassStopsTheStart() {
        assertThat(refusal(FinalClass.class))
                .hasMessageContaining("FinalClass.call()")
                .hasMessageContaining("class is final")
                .hasMessageContaining("Kotlin");
    }

    @Test
    void packagePrivateAndProtectedMethodsAreLimited() {
        local().withBean(Visible.class).run(context -> {
            Visible bean = context.getBean(Visible.class);
            assertThat(AopUtils.isAopProxy(bean)).isTrue();
            bean.call();
            bean.inheritable();
            assertThat(bean.calls).as("the proxy's own field, not the target's").isZero();
        });
    }

    @Test
    void otherBeansAreLeftAlone() {
        local().withBean(Plain.class)
                .run(context -> assertThat(AopUtils.isAopProxy(context.getBean(Plain.class)))
                        .isFalse());
    }

    static class Plain {
        public void call() {}
    }

    static class PrivateMethod {
        @DistributedPermit(limit = 1)
        private void call() {}

        void useIt() {
            call();
        }
    }

    static class HeirOfPrivateMethod extends PrivateMethod {}

    static class StaticMethod {
        @DistributedPermit(limit = 1)
        public static void call() {}
    }

    static class FinalMethod {
        @DistributedPermit(limit = 1)
        public final void call() {}
    }

    @DistributedPermit(limit = 1)
    static class FinalMethodOfType {
        public final void call() {}
    }

    static class Library {
        public final void call() {}
    }

    @DistributedPermit(limit = 1)
    static class HeirOfFinalMethod extends Library {
        public void export() {}
    }

    static class LimitedMethodOfHeir extends Library {
        @DistributedPermit(key = "heir", limit = 1)
        public void limited(Runnable work) {
            work.run();
        }
    }

    static final class FinalClass {
        @DistributedPermit(limit = 1)
        public void call() {}
    }

    static class Visible {
        int calls;

        @DistributedPermit(limit = 1)
        void call() {
            calls++;
        }

        @DistributedPermit(limit = 1)
        protected void inheritable() {
            calls++;
        }
    }
}
