package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.KeyEncoding;

/**
 * The names of a permit key's entries in Consul. Encoded keys have no dot, so that names that begin with one are free for this
 * library. Immutable.
 *
 * <p>All names of this backend are built here, apart from those that a {@link Session} adds to its inbox.
 *
 * @param prefix of all keys, without slashes at its ends
 * @param key as the user gave it
 * @param encoded the same for Consul
 */
record KeyNames(String prefix, String key, String encoded) {

    /** Characters of a key in a message. */
    private static final int SHOWN = 100;

    private static final int SLOT_DIGITS = 3;

    // Names below the tree of a key. They are the format of the stored data, so that they do not change.
    /**
     * The guard of the queue. The name is part of the stored format, so that it stays although the documents say
     * queue.
     */
    static final String GUARD = ".line";
    /** The operator's limit. */
    static final String OVERRIDE = ".override";
    /** Followed by three digits: a permit of layout slots. */
    static final String SLOT = "slot_";
    /** Followed by the session of a member that waits. */
    static final String WAITING = "m_";
    /** The document of layout lock-file. */
    static final String LOCK_FILE = ".lock";

    private static final String INBOXES = "/.inbox/";
    /** Versions before this one ignore what begins with a dot in an inbox. */
    static final String CONTENTION = ".contended";

    static KeyNames of(String prefix, String key) {
        return new KeyNames(prefix, key, KeyEncoding.encode(key));
    }

    /** A key as a message shows it: without control characters, and not longer than a line. */
    static String shown(String key) {
        String encoded = KeyEncoding.encode(key);
        return encoded.length() > SHOWN ? encoded.substring(0, SHOWN) + "..." : encoded;
    }

    /**
     * With a slash at its end, so that no other key's tree begins with it. All entries of a key are read by this
     * prefix.
     */
    String tree() {
        return prefix + '/' + encoded + '/';
    }

    String guard() {
        return tree() + GUARD;
    }

    String override() {
        return tree() + OVERRIDE;
    }

    /** The document of layout lock-file. */
    String lockFile() {
        return tree() + LOCK_FILE;
    }

    String slot(int number) {
        String digits = Integer.toString(number); // no formatter: it takes longer than all the rest of a plan
        return tree() + SLOT + "0".repeat(Math.max(0, SLOT_DIGITS - digits.length())) + digits;
    }

    String waiting(String session) {
        return tree() + WAITING + session;
    }

    /** What shows in layout lock-file that a session lives. */
    String contender(String session) {
        return tree() + session;
    }

    /** Where a member is notified of grants of this key. */
    String inbox(String session) {
        return inboxes(prefix, session) + encoded;
    }

    /** Where a member is notified that another one has begun to wait for a key of which it holds permits. */
    String contention(String session) {
        return inboxes(prefix, session) + CONTENTION;
    }

    /**
     * All that other members write for a session; the fence is there as well. Beside the keys and not below them: one
     * blocking query then watches the notices of all keys of a session.
     */
    static String inboxes(String prefix, String session) {
        return prefix + INBOXES + session + '/';
    }
}
