package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.EnumSet;
import java.util.Set;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Translates failures of the ZooKeeper client into what they mean to a claim: a conflict, which is repeated; the end of the
 * session; or a {@link PermitStoreException} for the core. Stateless.
 */
final class Faults {

    /** Another member was faster, or a node of the transaction is gone: read again. */
    private static final Set<Code> CONFLICTS = EnumSet.of(Code.BADVERSION, Code.NONODE, Code.NODEEXISTS, Code.NOTEMPTY);

    /** Repeating a claim does not help against these: rights, or a server without the features that are needed. */
    private static final Set<Code> PERMANENT = EnumSet.of(
            Code.NOAUTH,
            Code.AUTHFAILED,
            Code.INVALIDACL,
            Code.SESSIONCLOSEDREQUIRESASLAUTH,
            Code.NOCHILDRENFOREPHEMERALS,
            Code.BADARGUMENTS,
            Code.UNIMPLEMENTED);

    private Faults() {}

    static boolean isConflict(Throwable failure) {
        return PermitStoreException.causeOf(failure) instanceof KeeperException e && CONFLICTS.contains(e.code());
    }

    static boolean isMissing(Throwable failure) {
        return PermitStoreException.causeOf(failure) instanceof KeeperException.NoNodeException;
    }

    static boolean isSessionLoss(Throwable failure) {
        return PermitStoreException.causeOf(failure) instanceof KeeperException.SessionExpiredException;
    }

    /**
     * For the core, with the key as in the names of nodes: it may hold anything. The messages of the client name codes and
     * paths, never credentials.
     */
    static PermitStoreException translate(String key, Throwable failure) {
        Throwable cause = PermitStoreException.causeOf(failure);
        if (cause instanceof PermitStoreException known) {
            return known;
        }
        if (cause instanceof KeeperException e && PERMANENT.contains(e.code())) {
            return PermitStoreException.permanent(
                    "ZooKeeper refuses a claim of '%s' permanently: %s"
                            .formatted(KeyEncoding.encode(key), e.getMessage()),
                    e);
        }
        return PermitStoreException.passing(
                "ZooKeeper has not done a claim of '%s': %s".formatted(KeyEncoding.encode(key), cause.getMessage()),
                cause);
    }

    /** The chroot of the connect string is missing; only an operator may create it. */
    static PermitStoreException nowhere(String connectString, Throwable cause) {
        return PermitStoreException.permanent(
                "The path at the end of the connect string '%s' does not exist in ZooKeeper; create it there, or give a "
                                .formatted(connectString)
                        + "namespace instead, which is made by itself",
                cause);
    }

    /** The node of a key has other data than a document of this library. */
    static PermitStoreException foreign(String path, Throwable cause) {
        return PermitStoreException.permanent(
                "Node '%s' holds something else than permits, which is left alone: %s"
                        .formatted(path, cause.getMessage()),
                cause);
    }

    /** The document is larger than what a server accepts; nothing was sent. */
    static PermitStoreException tooMany(String path, int bytes) {
        return PermitStoreException.permanent(
                "Node '%s' would have %d bytes; that many members of one key do not fit".formatted(path, bytes), null);
    }
}
