package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.KeyList;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Looks through the names of a server, or of all masters of a cluster, for keys of this library: the states and the limits of operators. A
 * server with many other names is not looked through to its end. Used once; its steps follow one another.
 */
final class KeyScan {

    /** Names that Redis looks at for one answer: it does nothing else for that time, some 0.1 ms. */
    private static final int NAMES_PER_ANSWER = 1_000;

    private static final int MOST_ANSWERS = 200;

    private final SharedConnection connection;
    private final String begin;
    private final int most;
    private final ScanArgs arguments;
    private final Set<String> found = new LinkedHashSet<>();

    KeyScan(SharedConnection connection, String prefix, int most) {
        this.connection = connection;
        this.begin = prefix + ":{";
        this.most = most;
        this.arguments = ScanArgs.Builder.limit(NAMES_PER_ANSWER).match(pattern(begin) + "*}:*");
    }

    /** The characters of the prefix that have a meaning in a pattern stand for themselves. */
    private static String pattern(String text) {
        return text.replaceAll("[\\\\*?\\[\\]^-]", "\\\\$0");
    }

    CompletionStage<KeyList> run() {
        return next(ScanCursor.INITIAL, MOST_ANSWERS);
    }

    private CompletionStage<KeyList> next(ScanCursor from, int answers) {
        return connection.commands().scan(from, arguments).thenCompose(names -> {
            note(names);
            if (names.isFinished() || found.size() > most || answers == 1) {
                List<String> keys = found.stream()
                        .map(KeyEncoding::decode)
                        .flatMap(Optional::stream)
                        .limit(most)
                        .toList();
                return CompletableFuture.completedFuture(
                        new KeyList(keys, !names.isFinished() || keys.size() < found.size()));
            }
            return next(names, answers - 1);
        });
    }

    private void note(KeyScanCursor<byte[]> names) {
        for (byte[] name : names.getKeys()) {
            String text = new String(name, StandardCharsets.UTF_8);
            int end = text.lastIndexOf("}:");
            String part = text.substring(end + 2);
            if (part.equals("state") || part.equals("override")) {
                found.add(text.substring(begin.length(), end));
            }
        }
    }
}
