package io.github.distributedpermit.core;

/** Makes users' text safe for messages and logs: no line breaks that forge a log line, and no endless text. Stateless. */
public final class LogSafe {

    private static final int LONGEST = 100;

    private LogSafe() {}

    /** Control characters escaped, long text cut. */
    public static String escape(String text) {
        return escape(text, LONGEST);
    }

    /** The same for text that is cut after so many characters. */
    public static String escape(String text, int longest) {
        StringBuilder escaped = new StringBuilder(Math.min(text.length(), longest) + 8);
        for (int i = 0; i < text.length() && i < longest; i++) {
            char c = text.charAt(i);
            if (Character.isISOControl(c) || c == '\u2028' || c == '\u2029') {
                escaped.append("\\u%04x".formatted((int) c));
            } else {
                escaped.append(c);
            }
        }
        return text.length() > longest ? escaped.append("...").toString() : escaped.toString();
    }
}
