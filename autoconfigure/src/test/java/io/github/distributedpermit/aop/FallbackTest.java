package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static io.github.distributedpermit.aop.Contexts.refusal;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.Permits;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class FallbackTest {

    private static final Duration SOON = Duration.ofSeconds(30);

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
    void methodOfAnotherBeanAnswersForAllKindsOfMethods() {
        local().withBean("other", Other.class).withBean(Elsewhere.class).run(context -> {
            Elsewhere bean = context.getBean(Elsewhere.class);
            try (Permit taken = context.getBean(Permits.class).acquire("elsewhere")) {
                assertThat(bean.plain("a")).isEqualTo("other a");
                assertThat(bean.future("b").get(30, TimeUnit.SECONDS)).isEqualTo("other b LIMIT_REACHED");
                assertThat(bean.mono("c").block(SOON)).isEqualTo("other c");
                assertThat(bean.flux("d").collectList().block(SOON)).containsExactly("other", "d");
                assertThat(bean.callable("e").call()).isEqualTo("other e");
                assertThat(taken.isHeld()).isTrue();
            }
            assertThat(bean.plain("a")).isEqualTo("a");
        });
    }

    @Test
    void otherBeanIsCalledThroughItsProxyAndMadeWhenNeeded() {
        local().withBean("other", AdvisedOther.class, AdvisedOther::new, definition -> definition.setLazyInit(true))
                .withBean(CallingAdvised.class)
                .withPropertyValues("distributed-permit.permits.of-the-fallback.limit=1")
                .run(context -> {
                    assertThat(context.getBeanFactory().containsSingleton("other"))
                            .isFalse();
                    Permits permits = context.getBean(Permits.class);
                    try (Permit taken = permits.acquire("elsewhere");
                            Permit inner = permits.acquire("of-the-fallback")) {
                        assertThatExceptionOfType(PermitRejectedException.class)
                                .isThrownBy(() ->
                                        context.getBean(CallingAdvised.class).call())
                                .satisfies(
                                        rejected -> assertThat(rejected.key()).isEqualTo("of-the-fallback"));
                        assertThat(taken.isHeld() && inner.isHeld()).isTrue();
                    }
                });
    }

    /** Before the other bean is made, only its class is known, which has the method. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void methodThatAProxyOfInterfacesDoesNotHaveStopsTheStart(boolean limitedFirst) {
        ApplicationContextRunner runner = local().withPropertyValues("spring.aop.proxy-target-class=false");
        runner = limitedFirst
                ? runner.withBean(CallingHidden.class).withBean("other", Hidden.class)
                : runner.withBean("other", Hidden.class).withBean(CallingHidden.class);
        runner.run(context -> assertThat(context)
                .getFailure()
                .hasStackTraceContaining("CallingHidden.call()")
                .hasStackTraceContaining("fallback 'other::instead'"));
    }

    @Test
    void fallbackThatTakesAnyExceptionAnswersForTheStoreToo() {
        local().withBean(RecordingPermits.class).withBean(TakingAll.class).run(context -> {
            TakingAll bean = context.getBean(TakingAll.class);
            context.getBean(RecordingPermits.class).failure =
                    new PermitBackendException("store is down", new IllegalStateException());
            assertThat(bean.plain("a")).isEqualTo("a: store is down");
            assertThat(bean.mono("b").block(SOON)).isEqualTo("b: store is down");
            assertThat(bean.future("c").get(30, TimeUnit.SECONDS)).isEqualTo("c: store is down");
            assertThatExceptionOfType(PermitBackendException.class).isThrownBy(() -> bean.onlyRejections("d"));
            context.getBean(RecordingPermits.class).failure =
                    new PermitRejectedException("n", "k", Reason.TIMED_OUT, "too late");
            assertThat(bean.plain("a")).isEqualTo("a: too late");
            assertThat(bean.onlyRejections("d")).isEqualTo("d: too late");
            context.getBean(RecordingPermits.class).failure = new IllegalArgumentException("of the caller");
            assertThatIllegalArgumentException().isThrownBy(() -> bean.plain("a"));
            context.getBean(RecordingPermits.class).failure = null;
            assertThatIllegalStateException()
                    .isThrownBy(() -> bean.plain("throw"))
                    .withMessage("of the method");
        });
    }

    @Test
    void mistakesInTheNameOfAnotherBeanStopTheStart() {
        assertThat(refusal(NoBean.class))
                .hasMessageContaining("bean named 'nowhere'")
                .hasMessageContaining("NoBean.call()");
        assertThat(refusal(NoMethod.class))
                .hasMessageContaining("fallback 'distributedPermitOperations::instead'")
                .hasMessageContaining("String instead()");
        assertThat(refusal(NotPublic.class)).hasMessageContaining("not public");
        assertThat(refusal(HalfAName.class)).hasMessageContaining("bean::method");
    }

    static class NoBean {
        @DistributedPermit(limit = 1, fallback = "nowhere::instead")
        public void call() {}
    }

    static class NoMethod {
        @DistributedPermit(limit = 1, fallback = "distributedPermitOperations::instead")
        public String call() {
            return "";
        }
    }

    static class NotPublic {
        @DistributedPermit(limit = 1, fallback = "fallbackTest.NotPublic::instead")
        public void call() {}

        void instead() {}
    }

    static class HalfAName {
        @DistributedPermit(limit = 1, fallback = "other::")
        public void call() {}
    }

    static class Elsewhere {
        @DistributedPermit(key = "elsewhere", limit = 1, block = false, fallback = "other::instead")
        public String plain(String text) {
            return text;
        }

        @DistributedPermit(key = "elsewhere", limit = 1, block = false, fallback = "other::insteadOfFuture")
        public CompletableFuture<String> future(String text) {
            return CompletableFuture.completedFuture(text);
        }

        @DistributedPermit(key = "elsewhere", limit = 1, block = false, fallback = "other::insteadOfMono")
        public Mono<String> mono(String text) {
            return Mono.just(text);
        }

        @DistributedPermit(key = "elsewhere", limit = 1, block = false, fallback = "other::insteadOfFlux")
        public Flux<String> flux(String text) {
            return Flux.just(text);
        }

        @DistributedPermit(key = "elsewhere", limit = 1, block = false, fallback = "other::insteadOfCallable")
        public Callable<String> callable(String text) {
            return () -> text;
        }
    }

    static class Other {
        public String instead(String text) {
            return "other " + text;
        }

        public CompletableFuture<String> insteadOfFuture(String text, Throwable why) {
            return CompletableFuture.completedFuture("other " + text + " " + ((PermitRejectedException) why).reason());
        }

        public Mono<String> insteadOfMono(String text) {
            return Mono.just("other " + text);
        }

        public Flux<String> insteadOfFlux(String text) {
            return Flux.just("other", text);
        }

        public Callable<String> insteadOfCallable(String text) {
            return () -> "other " + text;
        }
    }

    static class CallingHidden {
        @DistributedPermit(key = "elsewhere", limit = 1, block = false, fallback = "other::instead")
        public String call() {
            return "";
        }
    }

    static class Hidden implements Runnable {
        @Override
        @DistributedPermit(key = "of-the-fallback", limit = 1)
        public void run() {}

        public String instead() {
            return "";
        }
    }

    static class CallingAdvised {
        @DistributedPermit(key = "elsewhere", limit = 1, block = false, fallback = "other::instead")
        public String call() {
            return "";
        }
    }

    static class AdvisedOther {
        @DistributedPermit(key = "of-the-fallback", limit = 1, block = false)
        public String instead() {
            return "";
        }
    }

    static class TakingAll {
        @DistributedPermit(limit = 1, fallback = "explain")
        public String plain(String text) {
            if (text.equals("throw")) {
                throw new IllegalStateException("of the method");
            }
            return text;
        }

        @DistributedPermit(limit = 1, fallback = "explainMono")
        public Mono<String> mono(String text) {
            return Mono.just(text);
        }

        @DistributedPermit(limit = 1, fallback = "explainFuture")
        public CompletableFuture<String> future(String text) {
            return CompletableFuture.completedFuture(text);
        }

        @DistributedPermit(limit = 1, fallback = "explainRejection")
        public String onlyRejections(String text) {
            return text;
        }

        String explain(String text, Throwable why) {
            return text + ": " + why.getMessage();
        }

        Mono<String> explainMono(String text, Exception why) {
            return Mono.just(text + ": " + why.getMessage());
        }

        CompletableFuture<String> explainFuture(String text, RuntimeException why) {
            return CompletableFuture.completedFuture(text + ": " + why.getMessage());
        }

        String explainRejection(String text, PermitRejectedException why) {
            return text + ": " + why.getMessage();
        }
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
