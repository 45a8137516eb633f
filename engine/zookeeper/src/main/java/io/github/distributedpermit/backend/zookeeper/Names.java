package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.KeyEncoding;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The names of nodes. A key's node lies under the root; under it {@code m-<member>-<count>} for each time a member
 * joined the key, and {@code override-<random>} while the operator's limit is set, which keeps the key's node alive.
 * Beside the keys lies {@code +<member>} for each session, with the member's readable name as its data. No name of a key's
 * tree is ever used twice, so that the existence of one proves that nothing above it was deleted meanwhile. Stateless.
 *
 * <p>Documents and notes of other versions refer to these names, so that their form does not change.
 */
final class Names {

    private static final String MEMBER = "m-";
    private static final String OVERRIDE = "override-";

    /** 64 bits make a second use of a name improbable. */
    private static final SecureRandom RANDOM = new SecureRandom();

    private Names() {}

    static String keyPath(String root, String key) {
        return root + "/" + KeyEncoding.encode(key);
    }

    /** @param count rises with each node that the member creates, so that no name is used twice */
    static String member(String member, long count) {
        return MEMBER + member + "-" + Long.toHexString(count);
    }

    /** Where the readable name of a member is. */
    static String readableNamePath(String root, String member) {
        return root + "/+" + member;
    }

    /** Random, because any member may create it and none remembers the earlier names. */
    static String newOverride() {
        return OVERRIDE + Long.toHexString(RANDOM.nextLong());
    }

    /**
     * The newest node of each member. A member has two nodes if an earlier session has left one. Notes go to the
     * newest, which is the one that the member watches.
     */
    static Map<String, String> members(List<String> children) {
        Map<String, String> newest = new HashMap<>();
        for (String child : children) {
            int end = child.lastIndexOf('-');
            if (child.startsWith(MEMBER) && end > MEMBER.length()) {
                newest.merge(child.substring(MEMBER.length(), end), child, Names::newer);
            }
        }
        return newest;
    }

    /**
     * All nodes of one member. An eviction has to delete all of them: as long as one is left, the record of the
     * member counts.
     */
    static List<String> ofMember(List<String> children, String member) {
        return children.stream()
                .filter(c ->
                        c.startsWith(MEMBER + member + "-") && c.lastIndexOf('-') == MEMBER.length() + member.length())
                .toList();
    }

    /** Present while the operator's limit is set. */
    static Optional<String> override(List<String> children) {
        return children.stream().filter(c -> c.startsWith(OVERRIDE)).findFirst();
    }

    /**
     * The counts have no leading zeros. Hexadecimal numbers without leading zeros are ordered by length, then by
     * text.
     */
    private static String newer(String one, String other) {
        if (one.length() != other.length()) {
            return one.length() > other.length() ? one : other;
        }
        return one.compareTo(other) > 0 ? one : other;
    }
}
