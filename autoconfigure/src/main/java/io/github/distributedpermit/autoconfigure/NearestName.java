package io.github.distributedpermit.autoconfigure;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the name that a mistyped one probably means. */
final class NearestName {

    private NearestName() {}

    /** The most similar of the names, if at most a third of the letters differ. */
    static Optional<String> of(String mistyped, Collection<String> names) {
        String text = PermitPropertyScan.relaxed(mistyped);
        return names.stream()
                .filter(name -> distance(text, PermitPropertyScan.relaxed(name)) <= Math.max(1, text.length() / 3))
                .min(Comparator.comparingInt((String name) -> distance(text, PermitPropertyScan.relaxed(name)))
                        .thenComparing(Comparator.naturalOrder()));
    }

    /** How many letters have to be inserted, removed or replaced (Levenshtein). */
    private static int distance(String one, String other) {
        int[] row = new int[other.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int replaced = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[other.length()];
    }
}
