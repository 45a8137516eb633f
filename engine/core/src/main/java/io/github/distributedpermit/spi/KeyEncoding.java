package io.github.distributedpermit.spi;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Turns a user's key into text that is safe in every store's names and in logs. Letters, digits, {@code -} and {@code _}
 * stay; everything else becomes {@code %XX} of its UTF-8 bytes, so that different keys stay different. What would be
 * longer than {@value #MAX_LENGTH} becomes a readable head, {@code ~} and the SHA-256 of the whole key.
 */
public final class KeyEncoding {

    /** The longest encoded key. */
    public static final int MAX_LENGTH = 160;

    private static final int HEAD_LENGTH = 64;
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private KeyEncoding() {}

    /** Encodes a key; the result has 1 to {@value #MAX_LENGTH} characters of {@code A-Za-z0-9-_%~}. */
    public static String encode(String key) {
        int length = key.length();
        for (int i = 0; i < length; i++) {
            if (!isPlain(key.charAt(i))) {
                return shorten(key, escape(key));
            }
        }
        return shorten(key, key);
    }

    private static String escape(String key) {
        StringBuilder text = new StringBuilder(key.length() + 16);
        // an unpaired surrogate has no UTF-8 form; its code units tell such keys apart
        byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
        boolean exact = new String(bytes, StandardCharsets.UTF_8).equals(key);
        if (!exact) {
            bytes = codeUnits(key);
            text.append("%u");
        }
        for (byte b : bytes) {
            char c = (char) (b & 0xff);
            if (exact && isPlain(c)) {
                text.append(c);
            } else {
                HEX.toHexDigits(text.append('%'), b);
            }
        }
        return text.toString();
    }

    /** As they are, for a charset puts a replacement in the place of an unpaired surrogate, also UTF-16. */
    private static byte[] codeUnits(String key) {
        ByteBuffer bytes = ByteBuffer.allocate(key.length() * Character.BYTES);
        bytes.asCharBuffer().put(key);
        return bytes.array();
    }

    private static String shorten(String key, String encoded) {
        if (encoded.length() <= MAX_LENGTH) {
            return encoded;
        }
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(codeUnits(key));
            return encoded.substring(0, HEAD_LENGTH) + '~' + HEX.formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }

    /** The key that has this encoded form; empty if that is only the head of a longer key and its hash. */
    public static Optional<String> decode(String encoded) {
        if (encoded.indexOf('~') >= 0) {
            return Optional.empty();
        }
        boolean units = encoded.startsWith("%u");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = units ? 2 : 0; i < encoded.length(); i++) {
            char c = encoded.charAt(i);
            if (c != '%') {
                bytes.write(c);
            } else if (i + 2 < encoded.length()
                    && HexFormat.isHexDigit(encoded.charAt(i + 1))
                    && HexFormat.isHexDigit(encoded.charAt(i + 2))) {
                bytes.write(HexFormat.fromHexDigits(encoded, i + 1, i + 3));
                i += 2;
            } else {
                return Optional.empty(); // not of this library
            }
        }
        return Optional.of(
                units
                        ? ByteBuffer.wrap(bytes.toByteArray()).asCharBuffer().toString()
                        : bytes.toString(StandardCharsets.UTF_8));
    }

    private static boolean isPlain(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    }
}
