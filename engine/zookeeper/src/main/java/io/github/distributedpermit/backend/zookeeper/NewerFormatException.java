package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.PermitStoreException;

/** A document needs a reader that knows a newer format than this version. */
final class NewerFormatException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int format;
    private final int minimumReader;

    NewerFormatException(int format, int minimumReader) {
        super("format " + format + ", minimum reader " + minimumReader);
        this.format = format;
        this.minimumReader = minimumReader;
    }

    PermitStoreException at(String path) {
        return PermitStoreException.newerFormat(
                "Node '" + path + "' in ZooKeeper", format, minimumReader, NewerParts.FORMAT);
    }
}
