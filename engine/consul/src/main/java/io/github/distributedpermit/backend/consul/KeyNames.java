package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.KeyEncoding;

/**
 * Where a permit key lies in Consul. Encoded keys have no dot, so that names that begin with one are free for us.
 *
 * @param prefix of all keys, without slashes at its ends
 * @param key as the user gave it
 * @param encoded the same for Consul
 */
record KeyNames(String prefix, String key, String encoded) {

    private static final int SHOWN = 100;
    private static final String INBOXES = "/.inbox/";

    static KeyNames of(String prefix, String key) {
        return new KeyNames(prefix, key, KeyEncoding.encode(key));
    }

    /** A key as a message shows it: without control characters, and not longer than a line. */
    static String shown(String key) {
        String encoded = KeyEncoding.encode(key);
        return encoded.length() > SHOWN ? encoded.substring(0, SHOWN) + "..." : encoded;
    }

    /** With a slash at its end, so that no other key's tree begins with it. */
    String tree() {
        return prefix + '/' + encoded + '/';
    }

    String line() {
        return tree() + SlotTree.LINE;
    }

    String override() {
        return tree() + SlotTree.OVERRIDE;
    }

    /** The document of layout lock-file. */
    String lockFile() {
        return tree() + SlotTree.LOCK_FILE;
    }

    String slot(int number) {
        return tree() + SlotTree.SLOT + "%03d".formatted(number);
    }

    String waiting(String session) {
        return tree() + SlotTree.WAITING + session;
    }

    /** What shows in layout lock-file that a session lives. */
    String contender(String session) {
        return tree() + session;
    }

    String inbox(String session) {
        return inboxes(prefix, session) + encoded;
    }

    static String inboxes(String prefix, String session) {
        return prefix + INBOXES + session + '/';
    }
}
