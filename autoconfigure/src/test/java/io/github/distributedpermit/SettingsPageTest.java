package io.github.distributedpermit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.github.distributedpermit.core.PermitSettings;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/**
 * The tables of {@code docs/settings.md} are the configuration metadata that IDEs show. {@code -Dpermit.documents=true} writes
 * them anew.
 */
class SettingsPageTest {

    private static final Path PAGE = Path.of("..", "docs", "settings.md");
    private static final String METADATA = "/META-INF/spring-configuration-metadata.json";
    private static final Pattern TABLE =
            Pattern.compile("<!-- properties: (.*?) -->\n(.*?)<!-- end -->\n", Pattern.DOTALL);

    private final Map<String, Property> properties = properties();

    @Test
    void tablesAreTheMetadata() throws IOException {
        String page = Files.readString(PAGE);
        String generated = TABLE.matcher(page)
                .replaceAll(table -> Matcher.quoteReplacement(
                        "<!-- properties: %s -->\n%s<!-- end -->\n".formatted(table.group(1), rows(table.group(1)))));
        if (Boolean.getBoolean("permit.documents")) {
            Files.writeString(PAGE, generated);
            page = generated;
        }

        assertThat(page)
                .as("%s is written anew with -Dtest=SettingsPageTest -Dpermit.documents=true", PAGE)
                .isEqualTo(generated);
    }

    @Test
    void everyPropertyIsInOneTable() throws IOException {
        assertThat(TABLE.matcher(Files.readString(PAGE))
                        .results()
                        .flatMap(table -> Stream.of(table.group(1).split(" "))))
                .containsExactlyInAnyOrderElementsOf(properties.keySet());
    }

    @Test
    void everySettingOfAPermitIsNamed() throws IOException {
        String page = Files.readString(PAGE);

        assertThat(PermitSettings.class.getRecordComponents())
                .extracting(RecordComponent::getName)
                .allSatisfy(name -> assertThat(page).contains("`" + inProperties(name) + "`"));
    }

    private static String inProperties(String name) {
        return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    private String rows(String names) {
        return Stream.of(names.split(" "))
                .map(name -> row(name, Objects.requireNonNull(properties.get(name), name)))
                .collect(Collectors.joining("\n", "| property | type | default | means |\n|---|---|---|---|\n", "\n"));
    }

    private static String row(String name, Property property) {
        return "| `%s` | %s | %s | %s |"
                .formatted(
                        name,
                        simple(property.type()),
                        property.defaultValue() == null ? "" : "`" + property.defaultValue() + "`",
                        Objects.requireNonNullElse(property.description(), "").replace("|", "\\|"));
    }

    /** An enum by its values, another type by its name. */
    private static String simple(String type) {
        try {
            Object[] values = Class.forName(type).getEnumConstants();
            if (values != null) {
                return Arrays.stream(values)
                        .map(value ->
                                "`" + value.toString().toLowerCase(Locale.ROOT).replace('_', '-') + "`")
                        .collect(Collectors.joining(", "));
            }
        } catch (ClassNotFoundException e) {
            // with type arguments
        }
        return type.replaceAll("[\\w.]+\\.(\\w+)", "$1").replace(",", ", ").replace("<", "&lt;");
    }

    /** By their names below {@code distributed-permit}. */
    private static Map<String, Property> properties() {
        try (InputStream in = SettingsPageTest.class.getResourceAsStream(METADATA)) {
            return JsonMapper.shared()
                    .readValue(Objects.requireNonNull(in, METADATA), Metadata.class)
                    .properties()
                    .stream()
                    .filter(property -> !property.name().endsWith("cache.time-to-live")) // of every endpoint
                    .collect(Collectors.toMap(
                            property -> property.name().replaceFirst("^distributed-permit\\.", ""),
                            Function.identity()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The part of the metadata that the page shows. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    private record Metadata(List<Property> properties) {}

    /** One property. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    private record Property(
            String name,
            String type,
            @Nullable Object defaultValue,
            @Nullable String description) {}
}
