package io.github.distributedpermit.harness.report;

import java.util.List;
import java.util.Locale;

/** The results for people, as Markdown. */
final class Table {

    private Table() {}

    static String of(List<Result> results) {
        StringBuilder table = new StringBuilder("""
                | backend | fault | expected | tried | hits | grants | held | longest recovery | lost, told | `./harness/run` |
                |---|---|---|---|---|---|---|---|---|---|
                """);
        results.forEach(result -> table.append(row(result)));
        return table.toString();
    }

    private static String row(Result result) {
        String held = result.held() ? "yes" : "**no**: " + result.violations().get(0);
        if (result.overGrant() > 0) {
            held += "; over the limit for %.0f ms at most".formatted(result.overGrant());
        }
        return String.format(
                Locale.ROOT,
                "| %s | %s | %s | %d | %d | %,d | %s | %.2f s (bound %.1f s) | %d | `%s` |%n",
                result.store(),
                result.fault(),
                result.expected(),
                result.tried(),
                result.hits(),
                result.grants(),
                held,
                result.recovery() / 1000,
                result.bound() / 1000,
                result.losses(),
                result.scenario());
    }
}
