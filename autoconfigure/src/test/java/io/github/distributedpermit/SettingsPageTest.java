package io.github.distributedpermit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.github.distributedpermit.core.PermitSettings;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
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
    private static final String BEGIN = "<!-- from the metadata: begin -->\n";
    private static final String END = "<!-- from the metadata: end -->\n";

    @Test
    void tableIsTheMetadata() throws IOException {
        String page = Files.readString(PAGE);
        int from = page.indexOf(BEGIN) + BEGIN.length();
        int to = page.indexOf(END);
        assertThat(from).as(BEGIN).isGreaterThanOrEqualTo(BEGIN.length());
        assertThat(to).as(END).isGreaterThanOrEqualTo(from);
        if (Boolean.getBoolean("permit.documents")) {
            page = page.substring(0, from) + table() + page.substring(to);
            Files.writeString(PAGE, page);
            to = page.indexOf(END);
        }

        assertThat(page.substring(from, to))
                .as("%s is written anew with -Dtest=SettingsPageTest -Dpermit.documents=true", PAGE)
                .isEqualTo(table());
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

    private static String table() throws IOException {
        return metadata().properties().stream()
                .filter(property -> !property.name().endsWith("cache.time-to-live")) // of every endpoint
                .map(SettingsPageTest::row)
                .collect(Collectors.joining("\n", "| property | type | default | means |\n|---|---|---|---|\n", "\n"));
    }

    private static String row(Property property) {
        return "| `%s` | %s | %s | %s |"
                .formatted(
                        property.name(),
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

    private static Metadata metadata() throws IOException {
        try (InputStream in = SettingsPageTest.class.getResourceAsStream(METADATA)) {
            return JsonMapper.shared().readValue(Objects.requireNonNull(in, METADATA), Metadata.class);
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
