package io.github.distributedpermit.benchmark.report;

import java.nio.file.Path;
import java.util.List;

/** The page lacks the markers between which a table belongs. */
public final class MissingPlaceException extends Exception {

    private static final long serialVersionUID = 1;

    MissingPlaceException(Path page, List<String> names) {
        super(message(page, names));
    }

    private static String message(Path page, List<String> names) {
        StringBuilder text =
                new StringBuilder("Nothing was measured: " + page + " has no place for all tables of this run."
                        + " Add these lines to it, each pair where its table belongs:\n");
        for (String name : names) {
            text.append('\n')
                    .append(Document.begin(name))
                    .append(Document.end(name))
                    .append('\n');
        }
        return text.toString();
    }
}
