import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/**
 * Prints the size of each module and the cycles of more than two classes in core, snapshot layer and backends:
 * "java .ci/Figures.java" in the root of the project, after "./mvnw test-compile". Ends with 1 if there is such a cycle.
 */
class Figures {

    private static final List<String> MODULES = List.of(
            "engine/core", "engine/redis", "engine/consul", "engine/zookeeper", "engine/jdbc", "engine/tck", "autoconfigure",
            "sample-app", "verification/test-servers", "verification/harness", "verification/benchmark");

    public static void main(String[] arguments) throws IOException {
        System.out.printf("%-28s %6s %7s %7s %5s %8s %9s%n", "main code", "files", "lines", "median", "90 %", "longest", "comments");
        for (String module : MODULES) {
            print(module, Path.of(module, "src", "main"));
        }
        System.out.printf("%n%-28s%n", "tests");
        for (String module : MODULES) {
            print(module, Path.of(module, "src", "test"));
        }
        System.out.println();
        boolean cycles = false;
        for (String module : List.of("engine/core", "engine/redis", "engine/consul", "engine/zookeeper", "engine/jdbc")) {
            for (Set<String> cycle : cycles(Path.of(module, "target", "classes"))) {
                cycles = true;
                System.out.println(module + ": a cycle of " + cycle.size() + " classes: " + cycle);
            }
        }
        System.out.println(cycles ? "" : "no cycle of more than two classes");
        System.exit(cycles ? 1 : 0);
    }

    private static void print(String module, Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return;
        }
        List<Integer> sizes = new ArrayList<>();
        int comments = 0;
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                List<String> lines = Files.readAllLines(file);
                sizes.add(lines.size());
                comments += comments(lines);
            }
        }
        if (sizes.isEmpty()) {
            return;
        }
        sizes.sort(null);
        int all = sizes.stream().mapToInt(n -> n).sum();
        System.out.printf("%-28s %6d %7d %7d %5d %8d %7.0f %%%n", module, sizes.size(), all, sizes.get(sizes.size() / 2),
                sizes.get(Math.min(sizes.size() - 1, sizes.size() * 9 / 10)), sizes.get(sizes.size() - 1), 100.0 * comments / all);
    }

    /** Lines that have nothing but a comment. */
    private static int comments(List<String> lines) {
        int count = 0;
        boolean within = false;
        for (String line : lines) {
            String text = line.strip();
            within |= text.startsWith("/*");
            if (within || text.startsWith("//")) {
                count++;
            }
            within &= !text.contains("*/");
        }
        return count;
    }

    private static List<Set<String>> cycles(Path classes) {
        StringWriter output = new StringWriter();
        ToolProvider.findFirst("jdeps").orElseThrow()
                .run(new PrintWriter(output), new PrintWriter(System.err), "-v", "-filter:none", "--ignore-missing-deps", classes.toString());
        Map<String, Set<String>> uses = new TreeMap<>();
        for (String line : output.toString().lines().toList()) {
            String[] words = line.strip().split("\\s+");
            if (words.length >= 3 && words[1].equals("->") && line.startsWith("   ") && words[0].startsWith("io.github.distributedpermit")
                    && words[2].startsWith("io.github.distributedpermit")) {
                String from = outer(words[0]);
                String to = outer(words[2]);
                if (!from.equals(to)) {
                    uses.computeIfAbsent(from, name -> new TreeSet<>()).add(to);
                }
            }
        }
        return new Components(uses).found;
    }

    /** Nested classes belong to their outer class. */
    private static String outer(String name) {
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    /** Tarjan's strongly connected components. */
    private static final class Components {

        final List<Set<String>> found = new ArrayList<>();
        private final Map<String, Set<String>> uses;
        private final Map<String, Integer> index = new HashMap<>();
        private final Map<String, Integer> low = new HashMap<>();
        private final Deque<String> stack = new ArrayDeque<>();

        Components(Map<String, Set<String>> uses) {
            this.uses = uses;
            uses.keySet().stream().filter(name -> !index.containsKey(name)).forEach(this::visit);
        }

        private void visit(String name) {
            if (index.containsKey(name)) {
                return;
            }
            index.put(name, index.size());
            low.put(name, index.get(name));
            stack.push(name);
            for (String next : uses.getOrDefault(name, Set.of())) {
                if (!index.containsKey(next)) {
                    visit(next);
                    low.merge(name, low.get(next), Math::min);
                } else if (stack.contains(next)) {
                    low.merge(name, index.get(next), Math::min);
                }
            }
            if (low.get(name).equals(index.get(name))) {
                Set<String> component = new TreeSet<>();
                String member;
                do {
                    member = stack.pop();
                    component.add(member);
                } while (!member.equals(name));
                if (component.size() > 2) {
                    found.add(component);
                }
            }
        }
    }
}
