package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.PermitStoreException;

/**
 * A document needs a reader that knows a newer format than this version. {@link KeyDocument} throws it without
 * knowing the node; {@link KeyReading} turns it into the permanent failure of the claim. Nothing is written to such a
 * key.
 */
final class NewerFormatException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** The format of the document. */
    private final int format;
    /** The lowest format that may use it. */
    private final int minimumReader;

    NewerFormatException(int format, int minimumReader) {
        super("format " + format + ", minimum reader " + minimumReader);
        this.format = format;
        this.minimumReader = minimumReader;
    }

    /** @param path of the node, for the message */
    PermitStoreException at(String path) {
        return PermitStoreException.newerFormat(
                "Node '" + path + "' in ZooKeeper", format, minimumReader, NewerParts.FORMAT);
    }
}
