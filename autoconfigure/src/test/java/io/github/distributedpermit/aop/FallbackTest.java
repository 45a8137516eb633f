package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static io.github.distributedpermit.aop.Contexts.refusal;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.Permits;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FallbackTest {

    @Test
    void fallbackAnswersRejectedCallsWithTheirArguments() {
        local().withBean(Service.class).run(context -> {
            Service service = context.getBean(Service.class);
            assertThat(service.plain("a", 1)).isEqualTo("plain a1");
            try (Permit taken = context.getBean(Permits.class).acquire("plain")) {
                assertThat(taken.isHeld()).isTrue();
                assertThat(service.plain("a", 1)).isEqualTo("instead of a1");
            }
            assertThat(service.plain("a", 1)).isEqualTo("plain a1");
        });
    }

    @Test
    void fallbackMayHearWhy() {
        local().withBean(Service.class).run(context -> {
            try (Permit taken = context.getBean(Permits.class).acquire("explained")) {
                assertThat(context.getBean(Service.class).explained("b"))
                        .isEqualTo("b " + Reason.LIMIT_REACHED + " " + taken.key());
            }
        });
    }

    @Test
    void whatTheFallbackThrowsReachesTheCallerUnchanged() {
        local().withBean(Service.class).run(context -> {
            try (Permit taken = context.getBean(Permits.class).acquire("throwing")) {
                assertThat(taken.isHeld()).isTrue();
                assertThatExceptionOfType(IOException.class)
                        .isThrownBy(() -> context.getBean(Service.class).throwing())
                        .withMessage("instead")
                        .withNoCause();
            }
        });
    }

    @Test
    void rejectionThrownByTheMethodItselfIsNotAnswered() {
        local().withBean(Service.class)
                .run(context -> assertThatExceptionOfType(PermitRejectedException.class)
                        .isThrownBy(() -> context.getBean(Service.class).rejectingItself())
                        .withMessage("mine"));
    }

    @Test
    void fallbackOfALaterPermitRunsWithoutTheEarlierOnes() {
        local().withBean(Service.class).run(context -> {
            Permits permits = context.getBean(Permits.class);
            try (Permit taken = permits.acquire("inner")) {
                assertThat(taken.isHeld()).isTrue();
                assertThat(context.getBean(Service.class).both(permits)).isEqualTo("outer is free: true");
            }
        });
    }

    @Test
    void missingFallbackStopsTheStart() {
        assertThat(refusal(Missing.class))
                .hasMessageContaining("Missing.call(long)")
                .hasMessageContaining("fallback 'nowhere'")
                .hasMessageContaining("String nowhere(long)")
                .hasMessageContaining("PermitRejectedException");
    }

    @Test
    void fallbackWithOtherParametersStopsTheStart() {
        assertThat(refusal(OtherParameters.class)).hasMessageContaining("fallback 'instead'");
    }

    @Test
    void fallbackWithAnotherReturnTypeStopsTheStart() {
        assertThat(refusal(OtherReturnType.class)).hasMessageContaining("fallback 'instead'");
    }

    @Test
    void methodCannotBeItsOwnFallback() {
        assertThat(refusal(OwnFallback.class)).hasMessageContaining("fallback 'call'");
    }

    @Test
    void overloadOfAFallbackOfATypeIsLimitedAsWell() {
        local().withBean(Overloaded.class).run(context -> {
            Overloaded bean = context.getBean(Overloaded.class);
            assertThat(bean.call("a", () -> bean.instead(5))).isEqualTo("instead of 5");
            assertThat(bean.call("a", () -> bean.call("b", () -> ""))).isEqualTo("instead of b");
            assertThat(bean.instead(5)).isEqualTo("unlimited");
        });
    }

    @Test
    void overloadOfAFallbackOfATypeNeedsAFallbackOfItsOwn() {
        assertThat(refusal(OverloadedWithoutFallback.class)).hasMessageContaining("instead(int)");
    }

    @DistributedPermit(key = "overloaded", limit = 1, block = false, fallback = "instead")
    static class Overloaded {
        public String call(String text, Supplier<String> work) {
            return work.get();
        }

        public String instead(String text, Supplier<String> work) {
            return "instead of " + text;
        }

        public String instead(int number) {
            return "unlimited";
        }

        String instead(int number, PermitRejectedException rejected) {
            return "instead of " + number;
        }
    }

    @DistributedPermit(key = "overloaded", limit = 1, block = false, fallback = "instead")
    static class OverloadedWithoutFallback {
        public String call(String text) {
            return text;
        }

        public String instead(String text) {
            return text;
        }

        public String instead(int number) {
            return "";
        }
    }

    static class Service {
        @DistributedPermit(key = "plain", limit = 1, block = false, fallback = "insteadOfPlain")
        public String plain(String text, int number) {
            return "plain " + text + number;
        }

        private String insteadOfPlain(String text, int number) {
            return "instead of " + text + number;
        }

        @DistributedPermit(key = "explained", limit = 1, block = false, fallback = "explain")
        public Object explained(String text) {
            return text;
        }

        String explain(String text, PermitRejectedException rejected) {
            return text + " " + rejected.reason() + " " + rejected.key();
        }

        @DistributedPermit(key = "throwing", limit = 1, block = false, fallback = "insteadThrowing")
        public void throwing() throws IOException {}

        public void insteadThrowing() throws IOException {
            throw new IOException("instead");
        }

        @DistributedPermit(key = "self", limit = 1, fallback = "insteadThrowing")
        public void rejectingItself() {
            throw new PermitRejectedException("n", "k", Reason.TIMED_OUT, "mine");
        }

        @DistributedPermit(key = "outer", limit = 1)
        @DistributedPermit(key = "inner", limit = 1, block = false, fallback = "lookAtOuter")
        public @Nullable String both(Permits permits) {
            return null;
        }

        String lookAtOuter(Permits permits, PermitRejectedException rejected) throws InterruptedException {
            assertThat(rejected.key()).isEqualTo("inner");
            Optional<Permit> outer = permits.tryAcquire("outer");
            outer.ifPresent(Permit::release);
            return "outer is free: " + outer.isPresent();
        }
    }

    static class Missing {
        @DistributedPermit(limit = 1, fallback = "nowhere")
        public String call(long id) {
            return "";
        }
    }

    static class OtherParameters {
        @DistributedPermit(limit = 1, fallback = "instead")
        public String call(long id) {
            return "";
        }

        public String instead(int id) {
            return "";
        }
    }

    static class OtherReturnType {
        @DistributedPermit(limit = 1, fallback = "instead")
        public String call(long id) {
            return "";
        }

        public Object instead(long id) {
            return "";
        }
    }

    static class OwnFallback {
        @DistributedPermit(limit = 1, fallback = "call")
        public void call() {}
    }
}
