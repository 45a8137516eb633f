package io.github.distributedpermit.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.util.ReflectionUtils;

class KeyExpressionsTest {

    private final KeyExpressions expressions = new KeyExpressions();
    private final Service target = new Service();
    private final Method method = java.util.Objects.requireNonNull(
            ReflectionUtils.findMethod(Service.class, "call", Object.class, Order.class));

    @Test
    void literalTextIsTheKeyAsItIs() {
        assertThat(key("a b:c/{d}..\n\u00e9", null, null)).isEqualTo("a b:c/{d}..\n\u00e9");
    }

    @Test
    void parametersAreKnownByNameAndByPosition() {
        assertThat(key("t-#{#id}", 7, null)).isEqualTo("t-7");
        assertThat(key("t-#{#p0}-#{#a0}", 7, null)).isEqualTo("t-7-7");
        assertThat(key("#{#id}", "x", null)).isEqualTo("x");
    }

    @Test
    void propertiesRecordComponentsMethodsMapsAndListsAreReached() {
        Order order = new Order("acme", Optional.of(3));
        assertThat(key("#{#order.tenant}/#{#order.tenant().length()}", 1, order))
                .isEqualTo("acme/4");
        assertThat(key("#{#order.count}", 1, order)).isEqualTo("3");
        assertThat(key("#{#id['k']}", Map.of("k", "v"), null)).isEqualTo("v");
        assertThat(key("#{#id[1]}", List.of("a", "b"), null)).isEqualTo("b");
        assertThat(key("#{#id?.toLowerCase() ?: 'none'}", null, null)).isEqualTo("none");
    }

    @Test
    void rootHasTargetAndMethod() {
        assertThat(key("#{#root.target.region}-#{#root.method.name}", 1, null)).isEqualTo("eu-call");
    }

    @Test
    void operandsOfASumAreEvaluatedOnce() {
        AtomicInteger next = new AtomicInteger();
        assertThat(key("#{#id.incrementAndGet() + '-' + #id.incrementAndGet()}", next, null))
                .isEqualTo("1-2");
        assertThat(next).hasValue(2);
    }

    @Test
    void valuesWithATextOfTheirOwnAreTaken() {
        UUID uuid = new UUID(1, 2);
        assertThat(key("#{#id}", uuid, null)).isEqualTo(uuid.toString());
        assertThat(key("#{#id}", TimeUnit.DAYS, null)).isEqualTo("DAYS");
        assertThat(key("#{#id}", 'c', null)).isEqualTo("c");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#{#id}",
                "tenant-#{#id}",
                "#{'tenant-' + #id}",
                "#{'tenant-' + #id + '-export'}",
                "#{#id + '-export'}",
                "#{#root.method.name + (':' + #id)}",
                "#{#order?.tenant}"
            })
    void nullIsNeverPartOfAKey(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> key(text, null, null))
                .withMessageContaining("Service.call")
                .withMessageContaining(text)
                .withMessageContaining("null");
    }

    @ParameterizedTest
    @ValueSource(strings = {"t-#{#order.count}", "#{'t-' + #order.count}"})
    void emptyOptionalIsNoKey(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> key(text, 1, new Order("acme", Optional.empty())))
                .withMessageContaining("null");
    }

    @Test
    void operandsWithATextOfTheirOwnAreTaken() {
        UUID uuid = new UUID(1, 2);
        assertThat(key("#{'t-' + #id}", uuid, null)).isEqualTo("t-" + uuid);
        assertThat(key("#{'t-' + #id}", TimeUnit.DAYS, null)).isEqualTo("t-DAYS");
        assertThat(key("#{#id + '-t'}", 'c', null)).isEqualTo("c-t");
        assertThat(key("#{'a' + ('b' + #id)}", "c", null)).isEqualTo("abc");
    }

    @Test
    void numbersAreAdded() {
        assertThat(key("#{#id + 1}", 7, null)).isEqualTo("8");
        assertThat(key("#{#id + #order.tenant.length()}", 7, new Order("acme", Optional.empty())))
                .isEqualTo("11");
        assertThat(key("#{'t-' + (#id + 1)}", 7, null)).isEqualTo("t-8");
        assertThat(key("#{'t-' + #id + 1}", 7, null)).isEqualTo("t-71");
        assertThat(key("#{+#id}", 7, null)).isEqualTo("7");
        assertThat(key("#{(#id + 1) % 4}", 6, null)).isEqualTo("3");
        assertThat(key("#{{'a', 'b'}[1 + #id]}", 0, null)).isEqualTo("b");
        assertThatIllegalArgumentException().isThrownBy(() -> key("#{(#id + 1).toString()}", null, null));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#{#order == null ? 'vip-' + #id : 'std-' + #id}",
                "#{('tenant-' + #id).trim()}",
                "#{'tenant-'.concat('x' + #id)}",
                "#{'a' + ('b' + #id).trim()}",
                "#{#order?.tenant ?: 'none-' + #id}",
                "#{{#id}.![#this + '-x']}"
            })
    void sumThatCouldHideANullIsRefusedAtStart(String text) {
        assertThatExceptionOfType(InvalidPermitException.class)
                .isThrownBy(() -> parse(text))
                .withMessageContaining("Service.call")
                .withMessageContaining(text)
                .withMessageContaining("could hide a null")
                .withMessageContaining("tenant-#{#id}");
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                "#id,#{#id}",
                "#order.tenant,#{#order.tenant}",
                "#order.tenant(),#{#order.tenant()}",
                "'tenant-' + #id,#{'tenant-' + #id}",
                "'tenant-' + #order.tenant + '-' + #id,#{'tenant-' + #order.tenant + '-' + #id}",
                "#id + '-export',#{#id + '-export'}",
                "#p0 + ':' + #a1?.tenant,#{#p0 + ':' + #a1?.tenant}",
                "#id + #order.count + '-x',#{#id + #order.count + '-x'}",
                "tenant-#id,tenant-#{#id}",
                "tenant/#order.tenant/#id/export,tenant/#{#order.tenant}/#{#id}/export",
                "#{#id}-#order.tenant,#{#id}-#{#order.tenant}",
                "#{#id}#id,#{#id}#{#id}",
                "#root.method.name,#{#root.method.name}",
                "tenant-#tenat,tenant-#{#tenat}",
                "tenant-{id},tenant-#{#id}",
                "{id},#{#id}",
                "#{#order.tenant}-{id}/{other},#{#order.tenant}-#{#id}/{other}",
            })
    void variableOutsideOfAnExpressionIsRefusedAtStartWithTheCorrectedKey(String text, String corrected) {
        assertThatExceptionOfType(InvalidPermitException.class)
                .isThrownBy(() -> parse(text))
                .withMessageContaining("Service.call")
                .withMessageContaining("key '" + text + "'")
                .withMessageContaining("all calls would share one key")
                .withMessageContaining("key = \"" + corrected + "\"");
        if (!corrected.contains("tenat")) {
            assertThat(parse(corrected)).isNotNull();
        }
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                "#{id},Write #id for the parameter",
                "t-#{id.length()},Write #id for the parameter",
                "#{#order == null ? id : 1},Write #id for the parameter",
                "#{#order.tenant.concat(id)},Write #id for the parameter",
                "#{hotel},Known are #id",
                "#{hotel.name},Known are #id",
            })
    void nameThatIsNoPropertyIsRefusedAtStart(String text, String remedy) {
        assertThatExceptionOfType(InvalidPermitException.class)
                .isThrownBy(() -> parse(text))
                .withMessageContaining("Service.call")
                .withMessageContaining("key '" + text + "'")
                .withMessageContaining("which is no property")
                .withMessageContaining(remedy);
    }

    @Test
    void namesOfElementsAndKeysOfMapsAreNoPropertiesOfTheRoot() {
        Order order = new Order("acme", Optional.of(3));
        assertThat(key("#{#id.![tenant.length()][0]}", List.of(order), null)).isEqualTo("4");
        assertThat(key("#{#id.?[tenant == 'acme'].size()}", List.of(order), null))
                .isEqualTo("1");
        assertThat(key("#{#id[k]}", Map.of("k", "v"), null)).isEqualTo("v");
        assertThat(key("#{target.region}-#{method.name}-#{args.length}", 1, null))
                .isEqualTo("eu-call-2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"room#12", "a # b", "c#", "#", "##", "#{'#'}general", "it's"})
    void otherSignsAreText(String text) {
        assertThat(key(text, 7, null)).isEqualTo(text.replace("#{'#'}", "#"));
    }

    @Test
    void whatSuchASumIsWrittenAsInsteadWorks() {
        String text = "#{#order == null ? 'vip' : 'std'}-#{#id}";
        assertThat(key(text, 7, null)).isEqualTo("vip-7");
        assertThatIllegalArgumentException().isThrownBy(() -> key(text, null, null));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\t\n"})
    void blankIsNoKey(String value) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> key("#{#id}", value, null))
                .withMessageContaining("Service.call")
                .withMessageContaining("#{#id}")
                .withMessageContaining("blank");
    }

    @Test
    void identityOfAnObjectIsNoKey() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> key("#{#id}", new Object(), null))
                .withMessageContaining("name a property");
        assertThatIllegalArgumentException().isThrownBy(() -> key("#{#id}", new int[] {1}, null));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "tenant-#{#id}",
                "#{'tenant-' + #id}",
                "#{#id + '-export'}",
                "#{'a' + 'b' + #id + 'c'}",
                "#{'a' + ('b' + #id)}"
            })
    void identityIsNoPartOfAKey(String text) {
        for (Object nameless : List.of(new Object(), Optional.of(new Object()), new int[] {1})) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> key(text, nameless, null))
                    .withMessageContaining("Service.call")
                    .withMessageContaining(text)
                    .withMessageContaining("name a property");
        }
    }

    @Test
    void missingPropertyIsToldWithMethodAndExpression() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> key("#{#order.tenat}", 1, new Order("acme", Optional.empty())))
                .withMessageContaining("Service.call")
                .withMessageContaining("tenat");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#{T(java.lang.System).exit(1)}",
                "${user.home}",
                "#{#root.target.region}",
                "' + T(java.lang.System).getenv() + '"
            })
    void userTextIsDataAndNeverEvaluated(String hostile) {
        assertThat(key("tenant-#{#id}", hostile, null)).isEqualTo("tenant-" + hostile);
        assertThat(key("#{'tenant-' + #id}", hostile, null)).isEqualTo("tenant-" + hostile);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#{T(java.lang.System).getenv('HOME')}",
                "#{new java.lang.String('x')}",
                "#{@someBean.name}",
                "#{#id = 'x'}",
                "#{#fn(1)}",
                "x-#{#id != null ? T(java.time.Year).now() : 1}"
            })
    void whatExpressionsMayNotSeeIsRefusedAtStart(String text) {
        assertThatExceptionOfType(InvalidPermitException.class)
                .isThrownBy(() -> parse(text))
                .withMessageContaining("Service.call")
                .withMessageContaining(text)
                .withMessageContaining("not allowed");
    }

    @Test
    void classLoadersAndClassesStayOutOfReach() {
        assertThatIllegalArgumentException().isThrownBy(() -> key("#{#id.class.classLoader}", "x", null));
        assertThatIllegalArgumentException().isThrownBy(() -> key("#{#id.getClass().forName('x')}", "x", null));
    }

    @ParameterizedTest
    @ValueSource(strings = {"#{#ident}", "t-#{#p2}", "#{'a' + #nothing.x}"})
    void unknownParameterIsRefusedAtStart(String text) {
        assertThatExceptionOfType(InvalidPermitException.class)
                .isThrownBy(() -> parse(text))
                .withMessageContaining("Service.call")
                .withMessageContaining(text)
                .withMessageContaining("#id, #p0, #a0, #order, #p1, #a1")
                .withMessageContaining("-parameters");
    }

    @ParameterizedTest
    @ValueSource(strings = {"#{#id", "#{}", "#{#id +}", "#{'open}", "a#{)}"})
    void whatDoesNotParseIsRefusedAtStart(String text) {
        assertThatExceptionOfType(InvalidPermitException.class)
                .isThrownBy(() -> parse(text))
                .withMessageContaining("Service.call")
                .withMessageContaining(text)
                .withMessageContaining("does not parse");
    }

    private String key(String text, @Nullable Object id, @Nullable Order order) {
        return parse(text).keyFor(target, method, new @Nullable Object[] {id, order});
    }

    private KeyTemplate parse(String text) {
        return expressions.parse(text, method, ParameterNames.of(method, method, Service.class), "Service.call");
    }

    /** A record, as arguments often are. */
    public record Order(String tenant, Optional<Integer> count) {}

    /** A bean. */
    public static class Service {
        public String getRegion() {
            return "eu";
        }

        public void call(Object id, Order order) {}
    }
}
