package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static io.github.distributedpermit.aop.Contexts.refusal;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What the start of an application makes of the attributes, good and bad. */
class AnnotationValuesTest {

    @Test
    void limitOfZeroStopsTheStart() {
        assertThat(refusal(LimitZero.class))
                .hasMessageContaining("LimitZero.call()")
                .hasMessageContaining("limit 0")
                .hasMessageContaining("between 1 and 1000000");
    }

    @Test
    void negativeLimitStopsTheStart() {
        assertThat(refusal(LimitNegative.class))
                .hasMessageContaining("LimitNegative.call()")
                .hasMessageContaining("limit -1");
    }

    @Test
    void limitOverAMillionStopsTheStart() {
        assertThat(refusal(LimitHuge.class))
                .hasMessageContaining("LimitHuge.call()")
                .hasMessageContaining("limit 1000001");
    }

    @Test
    void limitStringOutOfRangeStopsTheStart() {
        assertThat(refusal(LimitText.class, "my.limit=0"))
                .hasMessageContaining("LimitText.call()")
                .hasMessageContaining("'${my.limit}' (resolved to '0')");
    }

    @Test
    void limitStringThatIsNoNumberStopsTheStart() {
        assertThat(refusal(LimitText.class, "my.limit=many"))
                .hasMessageContaining("LimitText.call()")
                .hasMessageContaining("'many'")
                .hasMessageContaining("whole number");
    }

    @Test
    void unresolvablePlaceholderStopsTheStart() {
        assertThat(refusal(LimitText.class))
                .hasMessageContaining("LimitText.call()")
                .hasMessageContaining("${my.limit}")
                .hasMessageContaining("default");
        assertThat(refusal(KeyText.class))
                .hasMessageContaining("KeyText.call()")
                .hasMessageContaining("key 'export-${my.region}'");
    }

    @Test
    void bothLimitsStopTheStart() {
        assertThat(refusal(LimitTwice.class))
                .hasMessageContaining("LimitTwice.call()")
                .hasMessageContaining("both limit 1 and limitString '2'")
                .hasMessageContaining("one of them");
    }

    @Test
    void noLimitAtAllStopsTheStart() {
        assertThat(refusal(NoLimit.class))
                .hasMessageContaining("NoLimit.call()")
                .hasMessageContaining("distributed-permit.permits.no-limit.limit");
    }

    @Test
    void blankKeyStopsTheStart() {
        assertThat(refusal(KeyBlank.class, "blank="))
                .hasMessageContaining("KeyBlank.call()")
                .hasMessageContaining("'${blank}'")
                .hasMessageContaining("is blank");
    }

    @Test
    void expressionThatDoesNotParseStopsTheStart() {
        assertThat(refusal(KeyUnparsable.class))
                .hasMessageContaining("KeyUnparsable.call()")
                .hasMessageContaining("#{#id +}");
    }

    @Test
    void permitsOutOfRangeStopTheStart() {
        assertThat(refusal(PermitsZero.class))
                .hasMessageContaining("PermitsZero.call()")
                .hasMessageContaining("0 permits");
        assertThat(refusal(PermitsNegative.class)).hasMessageContaining("-2 permits");
        assertThat(refusal(PermitsAboveLimit.class))
                .hasMessageContaining("PermitsAboveLimit.call()")
                .hasMessageContaining("4 permits of a limit of 3");
    }

    @Test
    void permitsAboveTheLimitOfTheSettingsStopTheStart() {
        assertThat(refusal(PermitsTwo.class, "distributed-permit.permits.two.limit=1"))
                .hasMessageContaining("PermitsTwo.call()")
                .hasMessageContaining("2 permits")
                .hasMessageContaining("limit of 1");
    }

    @Test
    void badTimeoutsStopTheStart() {
        assertThat(refusal(TimeoutText.class, "my.timeout=-1s"))
                .hasMessageContaining("TimeoutText.call()")
                .hasMessageContaining("negative")
                .hasMessageContaining("30s");
        assertThat(refusal(TimeoutText.class, "my.timeout=soon")).hasMessageContaining("is no duration");
        assertThat(refusal(TimeoutText.class, "my.timeout=4000000d")).hasMessageContaining("longer than a year");
        assertThat(refusal(TimeoutText.class, "my.timeout=PT999999999999999999H"))
                .hasMessageContaining("is no duration");
    }

    @Test
    void differentLimitsOfOneKeyStopTheStart() {
        assertThat(refusal(LimitsDiffer.class))
                .hasMessageContaining("LimitsDiffer")
                .hasMessageContaining("'shared'")
                .hasMessageContaining("2")
                .hasMessageContaining("3")
                .hasMessageContaining("use one limit");
    }

    @Test
    void differentLimitsOfOneKeyInTwoBeansStopTheStart() {
        local().withBean(SharedOne.class)
                .withBean(SharedTwo.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("SharedOne.call()")
                        .hasStackTraceContaining("SharedTwo.call()"));
    }

    @Test
    void settingsWinOverTheAnnotation() {
        local().withBean(Everything.class)
                .withPropertyValues(
                        "distributed-permit.permits[all.of-it].limit=9",
                        "distributed-permit.permits[all.of-it].timeout=7s",
                        "distributed-permit.permits[all.of-it].block=true")
                .run(context -> {
                    PermitDefinition definition = definition(context.getBean(PermitCatalog.class), "all.of-it");
                    assertThat(definition.limit()).isEqualTo(9);
                    assertThat(definition.timeout()).isEqualTo(Duration.ofSeconds(7));
                    assertThat(definition.block()).isTrue();
                    assertThat(definition.permits()).isEqualTo(2);
                });
    }

    @Test
    void defaultsAreKeyAndNameOfTheMethod() {
        local().withBean(Everything.class).run(context -> {
            PermitCatalog catalog = context.getBean(PermitCatalog.class);
            PermitDefinition plain = definition(catalog, "AnnotationValuesTest.Everything.plain");
            assertThat(plain.key()).isEqualTo(Everything.class.getName() + ".plain(long)");
            assertThat(plain.limit()).isEqualTo(1);
            assertThat(plain.block()).isTrue();
            assertThat(plain.timeout()).isNull();
            assertThat(definition(catalog, "literal").key()).isEqualTo("literal");
            assertThat(definition(catalog, "AnnotationValuesTest.Everything.dynamic")
                            .key())
                    .isNull();
            PermitDefinition all = definition(catalog, "all.of-it");
            assertThat(all.limit()).isEqualTo(4);
            assertThat(all.timeout()).isEqualTo(Duration.ofMillis(1500));
            assertThat(all.block()).isFalse();
        });
    }

    @Test
    void placeholdersAreResolvedInEveryText() {
        local().withBean(Placeholders.class)
                .withPropertyValues("my.region=eu", "my.limit=5", "my.timeout=PT2S", "my.name=export")
                .run(context -> {
                    PermitDefinition definition = definition(context.getBean(PermitCatalog.class), "export");
                    assertThat(definition.key()).isEqualTo("export-eu");
                    assertThat(definition.limit()).isEqualTo(5);
                    assertThat(definition.timeout()).isEqualTo(Duration.ofSeconds(2));
                });
    }

    private static PermitDefinition definition(PermitCatalog catalog, String name) {
        return catalog.find(name).orElseThrow();
    }

    static class LimitZero {
        @DistributedPermit(limit = 0)
        public void call() {}
    }

    static class LimitNegative {
        @DistributedPermit(limit = -1)
        public void call() {}
    }

    static class LimitHuge {
        @DistributedPermit(limit = 1_000_001)
        public void call() {}
    }

    static class LimitText {
        @DistributedPermit(limitString = "${my.limit}")
        public void call() {}
    }

    static class LimitTwice {
        @DistributedPermit(limit = 1, limitString = "2")
        public void call() {}
    }

    static class NoLimit {
        @DistributedPermit(key = "no-limit")
        public void call() {}
    }

    static class KeyText {
        @DistributedPermit(key = "export-${my.region}")
        public void call() {}
    }

    static class KeyBlank {
        @DistributedPermit(key = "${blank}", limit = 1)
        public void call() {}
    }

    static class KeyUnparsable {
        @DistributedPermit(key = "#{#id +}", limit = 1)
        public void call() {}
    }

    static class PermitsZero {
        @DistributedPermit(limit = 1, permits = 0)
        public void call() {}
    }

    static class PermitsNegative {
        @DistributedPermit(limit = 1, permits = -2)
        public void call() {}
    }

    static class PermitsAboveLimit {
        @DistributedPermit(limit = 3, permits = 4)
        public void call() {}
    }

    static class PermitsTwo {
        @DistributedPermit(key = "two", limit = 3, permits = 2)
        public void call() {}
    }

    static class TimeoutText {
        @DistributedPermit(limit = 1, timeout = "${my.timeout}")
        public void call() {}
    }

    static class LimitsDiffer {
        @DistributedPermit(key = "shared", limit = 2)
        public void one() {}

        @DistributedPermit(key = "shared", limit = 3)
        public void other() {}
    }

    static class SharedOne {
        @DistributedPermit(key = "shared", limit = 2)
        public void call() {}
    }

    static class SharedTwo {
        @DistributedPermit(key = "shared", limit = 3)
        public void call() {}
    }

    static class Everything {
        @DistributedPermit(limit = 1)
        public void plain(long id) {}

        @DistributedPermit(key = "literal", limit = 1)
        public void literal() {}

        @DistributedPermit(key = "t-#{#id}", limit = 1)
        public void dynamic(long id) {}

        @DistributedPermit(
                key = "all",
                name = "all.of-it",
                limitString = "4",
                block = false,
                timeout = "1500ms",
                permits = 2)
        public void all() {}
    }

    static class Placeholders {
        @DistributedPermit(
                key = "export-${my.region}",
                name = "${my.name}",
                limitString = "${my.limit}",
                timeout = "${my.timeout}")
        public void call() {}
    }
}
