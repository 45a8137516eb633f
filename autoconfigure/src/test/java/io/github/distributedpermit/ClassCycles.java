package io.github.distributedpermit;

import com.tngtech.archunit.core.domain.JavaClass;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.springframework.asm.ClassReader;
import org.springframework.asm.Type;

/** Finds classes that depend on each other in a circle. A nested class counts as the class that encloses it. */
final class ClassCycles {

    /** The tag of a class in the constant pool of a class file. */
    private static final int CLASS = 7;

    private ClassCycles() {}

    /** The largest sets of more than two of these classes in which each one depends, if indirectly, on each other one. */
    static List<Set<String>> among(Collection<JavaClass> classes) {
        Set<String> names = classes.stream().map(ClassCycles::outermost).collect(Collectors.toCollection(TreeSet::new));
        Map<String, Set<String>> reachable = new TreeMap<>();
        for (JavaClass type : classes) {
            Set<String> targets = reachable.computeIfAbsent(outermost(type), absent -> new TreeSet<>());
            type.getDirectDependenciesFromSelf().forEach(d -> targets.add(outermost(d.getTargetClass())));
            targets.addAll(constantPool(type));
            targets.retainAll(names);
        }
        // Warshall's algorithm: a path may lead through each class in turn
        for (String through : names) {
            for (Set<String> targets : reachable.values()) {
                if (targets.contains(through)) {
                    targets.addAll(Set.copyOf(reachable.getOrDefault(through, Set.of())));
                }
            }
        }
        List<Set<String>> cycles = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (String name : names) {
            Set<String> cycle = reachable.getOrDefault(name, Set.of()).stream()
                    .filter(other -> reachable.getOrDefault(other, Set.of()).contains(name))
                    .collect(Collectors.toCollection(TreeSet::new));
            if (cycle.size() > 2 && seen.addAll(cycle)) {
                cycles.add(cycle);
            }
        }
        return cycles;
    }

    /**
     * All classes that the class file names. This includes those of constants whose values the compiler has copied, which
     * ArchUnit does not find.
     */
    static Set<String> constantPool(JavaClass type) {
        ClassReader file;
        try (InputStream bytes = type.getSource().orElseThrow().getUri().toURL().openStream()) {
            file = new ClassReader(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        char[] buffer = new char[file.getMaxStringLength()];
        Set<String> names = new TreeSet<>();
        for (int i = 1; i < file.getItemCount(); i++) {
            int item = file.getItem(i); // 0 behind an item that counts as two
            if (item > 0 && file.readByte(item - 1) == CLASS) {
                String name = file.readUTF8(item, buffer);
                if (name != null) {
                    names.add(outermost(Type.getObjectType(name).getClassName()));
                }
            }
        }
        return names;
    }

    private static String outermost(JavaClass type) {
        return outermost(type.getBaseComponentType().getName());
    }

    private static String outermost(String name) {
        return name.replaceFirst("\\$.*", "");
    }
}
