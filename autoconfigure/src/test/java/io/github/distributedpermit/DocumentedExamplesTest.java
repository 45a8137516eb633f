package io.github.distributedpermit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every Java example of the README and of a page in {@code docs} compiles, but for the page on tests, whose artifact is not here: as a type, as members of a class, or as statements.
 * A body {@code { ... }} stands for any body, and a line {@code ...} for any statement.
 */
class DocumentedExamplesTest {

    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    private static final Pattern TYPE =
            Pattern.compile("^(public |final |abstract )*(class|interface|record|enum|@interface) ", Pattern.MULTILINE);

    private static final Pattern METHOD = Pattern.compile("^(public|protected|private|@Bean)\\b", Pattern.MULTILINE);

    private static final Pattern IMPORTS = Pattern.compile("^(import [\\w.]+;\n)+");

    /** What the examples leave out. */
    private static final String SURROUNDINGS = """
            import io.github.distributedpermit.*;
            import io.github.distributedpermit.aop.*;
            import io.github.distributedpermit.aop.async.PermitExecutors;
            import io.github.distributedpermit.autoconfigure.*;
            import io.github.distributedpermit.http.*;
            import io.github.distributedpermit.metrics.*;
            import io.github.distributedpermit.web.*;
            import io.micrometer.core.instrument.Tags;
            import java.nio.charset.StandardCharsets;
            import java.time.*;
            import java.util.*;
            import java.util.concurrent.*;
            import java.util.stream.*;
            import org.apache.curator.framework.*;
            import org.apache.curator.framework.imps.DefaultACLProvider;
            import org.apache.curator.retry.*;
            import org.apache.zookeeper.ZooDefs;
            import org.apache.zookeeper.client.ZKClientConfig;
            import org.apache.zookeeper.data.ACL;
            import org.springframework.beans.factory.annotation.Value;
            import org.springframework.cache.annotation.*;
            import org.springframework.context.annotation.*;
            import org.springframework.core.annotation.*;
            import org.springframework.data.redis.connection.lettuce.*;
            import org.springframework.kafka.annotation.KafkaListener;
            import org.springframework.amqp.rabbit.annotation.RabbitListener;
            import org.springframework.core.task.AsyncTaskExecutor;
            import org.springframework.scheduling.annotation.*;
            import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
            import org.springframework.stereotype.*;
            import org.springframework.transaction.annotation.*;
            import org.springframework.validation.beanvalidation.MethodValidationPostProcessor;
            import org.springframework.web.client.*;
            import org.springframework.web.reactive.function.client.WebClient;
            import reactor.core.publisher.*;

            class Report {}
            class Quote {}

            abstract class Surroundings {
                Permits permits;
                long id;
                abstract Report export(long id);
            }
            """;

    @TempDir
    private Path classes;

    @Test
    void everyExampleCompiles() throws IOException {
        List<Source> sources = new ArrayList<>();
        try (Stream<Path> pages = Stream.concat(
                Stream.of(Path.of("..", "README.md")),
                Files.list(Path.of("..", "docs"))
                        .filter(page -> page.toString().endsWith(".md") && !page.endsWith("testing.md")))) {
            for (Path page : pages.sorted().toList()) {
                int number = 0;
                for (MatchResult block :
                        BLOCK.matcher(Files.readString(page)).results().toList()) {
                    sources.add(new Source(page.getFileName().toString(), ++number, block.group(1)));
                }
            }
        }

        assertThat(sources)
                .extracting(source -> source.page)
                .contains("README.md", "annotation.md", "scheduled-jobs.md");
        for (Source source : sources) {
            assertThat(errors(source))
                    .as("example %d of %s:%n%s", source.number, source.page, source.text)
                    .isEmpty();
        }
    }

    @Test
    void wrongExampleIsFound() throws IOException {
        assertThat(errors(new Source("none.md", 1, "permits.tryAcquire(\"a\").isHeld();\n")))
                .singleElement()
                .asString()
                .contains("isHeld");
        assertThat(errors(new Source(
                        "none.md", 2, "class A {\n    @DistributedPermit(keys = \"a\") void b() { ... }\n}\n")))
                .isNotEmpty();
    }

    private List<String> errors(Source source) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(found, null, null)) {
            List<String> options = List.of("-proc:none", "-d", classes.toString());
            compiler.getTask(null, files, found, options, null, List.of(source)).call();
        }
        return found.getDiagnostics().stream()
                .filter(each -> each.getKind() == Diagnostic.Kind.ERROR)
                .map(Object::toString)
                .toList();
    }

    private static final class Source extends SimpleJavaFileObject {

        private final String page;
        private final int number;
        private final String text;

        Source(String page, int number, String text) {
            super(URI.create("string:///Example.java"), Kind.SOURCE);
            this.page = page;
            this.number = number;
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            String whole = text.replace("{ ... }", "{ throw new UnsupportedOperationException(); }")
                    .replaceAll("(?m)^\\s*\\.\\.\\.$", "");
            if (TYPE.matcher(text).find()) {
                Matcher imports = IMPORTS.matcher(whole);
                return imports.find()
                        ? imports.group() + SURROUNDINGS + whole.substring(imports.end())
                        : SURROUNDINGS + whole;
            }
            String members =
                    METHOD.matcher(text).find() ? whole : "void example() throws Exception {\n" + whole + "\n}";
            return SURROUNDINGS + "abstract class Example extends Surroundings {\n" + members + "\n}";
        }
    }
}
