package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.PermitStoreException;

/**
 * A document needs a reader that knows a newer format than this version. {@link KeyDocument} throws it without
 * knowing where the document is; the store turns it into the permanent failure of the claim. Nothing is written to such a
 * key.
 */
public final class NewerFormatException extends RuntimeException {

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

    /** @param place the document, as people find it in the store */
    public PermitStoreException at(String place) {
        return PermitStoreException.newerFormat(place, format, minimumReader, NewerParts.FORMAT);
    }
}
