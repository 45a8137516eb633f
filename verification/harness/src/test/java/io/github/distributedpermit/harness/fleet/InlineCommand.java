package io.github.distributedpermit.harness.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * Asks a Redis server one question on a connection made for it, in the form of a line, as an operator may with
 * {@code telnet}. It reconnects, retries and caches nothing, so that what it says is what the server says right now.
 */
final class InlineCommand {

    private static final int PATIENCE_MILLIS = 1_000;
    private static final int CHUNK = 4_096;

    private InlineCommand() {}

    /** The beginning of the answer as it comes, a text as a whole; {@code "down"} if there is none within a second. */
    static String ask(int port, String command) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress("127.0.0.1", port), PATIENCE_MILLIS);
            socket.setSoTimeout(PATIENCE_MILLIS);
            socket.setTcpNoDelay(true);
            socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            StringBuilder answer = new StringBuilder();
            byte[] chunk = new byte[CHUNK];
            int read = 0;
            while (read >= 0 && !isWhole(answer)) {
                read = in.read(chunk);
                answer.append(new String(chunk, 0, Math.max(0, read), StandardCharsets.ISO_8859_1));
            }
            return answer.toString();
        } catch (IOException e) {
            return "down";
        }
    }

    private static boolean isWhole(CharSequence answer) {
        String text = answer.toString();
        int line = text.indexOf("\r\n");
        if (line < 0 || text.charAt(0) != '$') {
            return line >= 0;
        }
        return text.length() >= line + 2 + Integer.parseInt(text.substring(1, line));
    }
}
