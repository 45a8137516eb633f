package io.github.distributedpermit.backend.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.springframework.util.function.SingletonSupplier;

/**
 * A Lua script and the SHA-1 by which Redis knows it. Immutable. A script consists of several files: all but the last are the
 * bodies of functions: {@code claim_slow_path} or {@code execute}, whose arguments are named at the top of common.lua, and
 * {@code claim_in_queue}.
 *
 * <p>All instances of one version have the same text, and so the same digest.
 */
record Script(byte[] source, String sha1) {

    /** The body of all scripts but that of claims. */
    private static final String EXECUTE = "return execute(KEYS, ARGV)\n";

    /** Claims of one or more keys: claims.lua and queued.lua do the usual ones, and claim_slow_path does the others. */
    static final Script CLAIMS = load(function("claim_slow_path", "common", "serve", "lineage", "claim")
            + function("claim_in_queue", "queued")
            + read("claims"));

    /** Makes a server that has been replaced as the master refuse claims. */
    static final Script CLOSE = load(read("close"));

    /** Lets a server take claims again that was closed, because it was made the master again. */
    static final Script OPEN = load(read("open"));

    // The scripts that only operators need are read when they are first used, so that other applications spend neither
    // start-up time nor memory on them. Those that the limit depends on are read at the start: a jar that is replaced
    // while the application runs can't be read any more.

    /** Sets the limit of an operator. */
    static final Supplier<Script> OVERRIDE =
            SingletonSupplier.of(() -> load(function("execute", "common", "serve", "override") + EXECUTE));

    /** Takes the permits of a member by order of an operator. */
    static final Supplier<Script> EVICT =
            SingletonSupplier.of(() -> load(function("execute", "common", "serve", "evict") + EXECUTE));

    /** Reads the records of a key. */
    static final Supplier<Script> INSPECT =
            SingletonSupplier.of(() -> load(function("execute", "common", "inspect") + EXECUTE));

    /** The files share the local variables of that function. */
    private static String function(String name, String... files) {
        return Arrays.stream(files)
                .map(Script::read)
                .collect(Collectors.joining("", "local function " + name + "(...)\n", "end\n"));
    }

    /** The digest is computed here, so that the first call can send it without asking the server. */
    private static Script load(String text) {
        byte[] source = text.getBytes(StandardCharsets.UTF_8);
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(source);
            return new Script(source, HexFormat.of().formatHex(digest));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-1", e);
        }
    }

    /** Throws if the file is missing, which only happens with an incomplete jar. */
    private static String read(String name) {
        String file = name + ".lua";
        try (InputStream in = Script.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("The script " + file
                        + " is missing from the class path; the jar of distributed-permit-redis is incomplete");
            }
            // The same text on every platform, so that all instances use one digest.
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
