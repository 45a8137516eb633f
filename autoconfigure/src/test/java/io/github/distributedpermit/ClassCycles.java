package io.github.distributedpermit;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Finds classes that depend on each other in a circle. A nested class counts as the class that encloses it. */
final class ClassCycles {

    private ClassCycles() {}

    /** The largest sets of more than two of these classes in which each one depends, if indirectly, on each other one. */
    static List<Set<String>> among(Collection<JavaClass> classes) {
        Set<String> names = classes.stream().map(ClassCycles::outermost).collect(Collectors.toCollection(TreeSet::new));
        Map<String, Set<String>> reachable = new TreeMap<>();
        for (JavaClass type : classes) {
            Set<String> targets = reachable.computeIfAbsent(outermost(type), absent -> new TreeSet<>());
            for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                String target = outermost(dependency.getTargetClass());
                if (names.contains(target)) {
                    targets.add(target);
                }
            }
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

    private static String outermost(JavaClass type) {
        return type.getBaseComponentType().getName().replaceFirst("\\$.*", "");
    }
}
