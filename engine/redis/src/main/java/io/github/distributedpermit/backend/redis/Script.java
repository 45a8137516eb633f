package io.github.distributedpermit.backend.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Collectors;

/** A Lua script and the name under which Redis remembers it. */
record Script(byte[] source, String sha1) {

    private static final String CALL = "return thoroughly(KEYS, ARGV)\n";

    static final Script CLAIMS = load(thoroughly("common", "serve", "claim") + read("claims"));
    static final Script OVERRIDE = load(thoroughly("common", "serve", "override") + CALL);
    static final Script INSPECT = load(thoroughly("common", "inspect") + CALL);

    /** The parts as one function, whose arguments common.lua names. */
    private static String thoroughly(String... parts) {
        return Arrays.stream(parts)
                .map(Script::read)
                .collect(Collectors.joining("", "local function thoroughly(...)\n", "end\n"));
    }

    private static Script load(String text) {
        byte[] source = text.getBytes(StandardCharsets.UTF_8);
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(source);
            return new Script(source, HexFormat.of().formatHex(digest));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-1", e);
        }
    }

    private static String read(String name) {
        String file = name + ".lua";
        try (InputStream in = Script.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("The script " + file + " is missing from the classpath");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
