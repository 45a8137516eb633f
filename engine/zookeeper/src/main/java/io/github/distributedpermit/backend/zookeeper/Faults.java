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
 *
 * <p>Codes that are in neither set, such as a lost connection or a time-out, leave open whether the request was executed.
 */
final class Faults {

    /**
     * Another member was faster, or a node of the transaction is gone: read again. With these codes the server has
     * executed no operation of the transaction.
     */
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

    /** Only for a transaction. For a single request a missing node has its own meaning, see {@link #isMissing}. */
    static boolean isConflict(Throwable failure) {
        return PermitStoreException.causeOf(failure) instanceof KeeperException e && CONFLICTS.contains(e.code());
    }

    /** Whether the node of the request, or the one above a node to be created, does not exist. */
    static boolean isMissing(Throwable failure) {
        return PermitStoreException.causeOf(failure) instanceof KeeperException.NoNodeException;
    }

    /**
     * Only the server can say this. A lost connection is not the end of the session, and the client reconnects by
     * itself.
     */
    static boolean isSessionLoss(Throwable failure) {
        return PermitStoreException.causeOf(failure) instanceof KeeperException.SessionExpiredException;
    }

    /**
     * For the core, with the key as in the names of nodes: it may hold anything. The messages of the client name
     * codes and paths, never credentials. A failure of this library keeps its own text.
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

    /**
     * The chroot of the connect string is missing; only an operator may create it. The connect string has no
     * credentials, so that a message may show it.
     */
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

    /**
     * The document is larger than what a server accepts; nothing was sent. Permanent, because the claim can succeed
     * only when other members have left.
     */
    static PermitStoreException tooMany(String path, int bytes) {
        return PermitStoreException.permanent(
                "Node '%s' would have %d bytes; that many members of one key do not fit".formatted(path, bytes), null);
    }
}
