package io.github.distributedpermit.harness.report;

import java.util.List;
import java.util.Locale;

/** Results for people, as Markdown. */
final class Table {

    private Table() {}

    static String of(List<Result> results) {
        StringBuilder table = new StringBuilder("""
                | store | fault | expected | tried | hits | grants | held | longest recovery | first good call | losses notified | `./verification/harness/run` |
                |---|---|---|---|---|---|---|---|---|---|---|
                """);
        results.forEach(result -> table.append(row(result)));
        long grants = results.stream().mapToLong(Result::grants).sum();
        long violations =
                results.stream().mapToLong(result -> result.violations().size()).sum();
        return table.append(
                        String.format(Locale.ROOT, "%nTogether %,d grants and %d violations.%n", grants, violations))
                .toString();
    }

    private static String row(Result result) {
        String held = result.held()
                ? "yes"
                : "**no**: " + Caught.brief(result.violations().get(0));
        if (result.overGrant() > 0 || result.overBound() > 0) {
            held += String.format(Locale.ROOT, "; over the limit for %.0f ms at most", result.overGrant());
        }
        if (result.overBound() > 0) {
            held += String.format(
                    Locale.ROOT,
                    ", all within %.2f s of a fault (bound %.1f s)",
                    result.overSpread() / 1000,
                    result.overBound() / 1000);
        }
        String first = result.firstCallBound() == 0
                ? firstOfKeys(result)
                : String.format(
                        Locale.ROOT,
                        "%.2f s (bound %.1f s)",
                        result.firstCall() / 1000,
                        result.firstCallBound() / 1000);
        return String.format(
                Locale.ROOT,
                "| %s | %s | %s | %d | %d | %,d | %s | %.2f s (bound %.1f s) | %s | %d | `%s` |%n",
                result.store(),
                result.fault(),
                result.expected(),
                result.tried(),
                result.hits(),
                result.grants(),
                held,
                result.recovery() / 1000,
                result.bound() / 1000,
                first,
                result.losses(),
                result.scenario());
    }

    /** Older results do not have it, and of those with a bound it says less. */
    private static String firstOfKeys(Result result) {
        return result.firstMost() == 0
                ? "-"
                : String.format(
                        Locale.ROOT,
                        "median %.2f s, 90 %% %.2f s",
                        result.firstHalf() / 1000,
                        result.firstMost() / 1000);
    }

    static String ofMutants(List<Caught> mutants) {
        StringBuilder table = new StringBuilder("""
                | mutant | scenario | hits | found by |
                |---|---|---|---|
                """);
        for (Caught each : mutants) {
            table.append(String.format(
                    Locale.ROOT,
                    "| %s (`%s`) | `%s` | %d | %s |%n",
                    each.about(),
                    each.mutant(),
                    each.scenario(),
                    each.hits(),
                    each.caught() ? each.finding() : "**missed**"));
        }
        return table.toString();
    }
}
