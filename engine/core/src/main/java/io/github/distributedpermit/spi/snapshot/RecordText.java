package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.OptionalLong;

/**
 * Records and notices as fields of text with spaces between them, for stores that keep a document. Instances of different
 * versions read each other's text, so that no field is ever changed or removed; a store appends its own ones. Stateless.
 *
 * <p>The document of ZooKeeper and its notices use it. The policy for mixed versions is in docs/compatibility.md: a
 * field keeps its place and its meaning, and a reader ignores what follows the fields that it needs.
 */
public final class RecordText {

    /** How many fields a record has at least. One more says how many calls wait beyond what the member wants, unless none do. */
    public static final int RECORD_FIELDS = 9;

    /** How many fields a notice has. */
    public static final int HOLDING_FIELDS = 6;

    /** Stands for an absent number, so that each field has a fixed place. */
    private static final String NONE = "-";

    private RecordText() {}

    /** A record without its expiry: sessions keep it alive. */
    public static String of(PermitRecord r) {
        return r.member()
                + ' '
                + r.permits()
                + ' '
                + r.sequence()
                + ' '
                + r.version()
                + ' '
                + r.wanted()
                + ' '
                + r.weightOfHead()
                + ' '
                + r.least()
                + ' '
                + r.limit()
                + ' '
                + (r.since().isPresent() ? r.since().getAsLong() : NONE)
                // Left out if it is 0, so that the line is the same as the one that versions before this field have
                // written.
                + (r.shown().waitingBeyondWanted() > 0 ? " " + r.shown().waitingBeyondWanted() : "");
    }

    /**
     * Reads {@link #of(PermitRecord)}.
     *
     * @param fields at least {@link #RECORD_FIELDS}; what follows the one after them is not read
     * @throws NumberFormatException if one of them is no number
     */
    public static PermitRecord record(String[] fields) {
        return new PermitRecord(
                fields[0],
                Integer.parseInt(fields[1]),
                Long.parseLong(fields[2]),
                Long.parseLong(fields[3]),
                Integer.parseInt(fields[4]),
                Integer.parseInt(fields[5]),
                Integer.parseInt(fields[6]),
                Integer.parseInt(fields[7]),
                fields[8].equals(NONE) ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(fields[8])),
                fields.length > RECORD_FIELDS
                        ? new Claim.Shown(Integer.parseInt(fields[RECORD_FIELDS]))
                        : Claim.Shown.NOTHING,
                PermitRecord.NEVER);
    }

    /** What a member that was served is notified of. */
    public static String of(Holding h) {
        return h.permits() + " " + h.limit() + ' ' + h.sequence() + ' ' + h.version() + ' '
                + h.others().contended() + ' ' + h.others().over();
    }

    /**
     * Reads {@link #of(Holding)}.
     *
     * @param from the index of the first of {@link #HOLDING_FIELDS} fields
     * @throws NumberFormatException if one of them is no number
     */
    public static Holding holding(String[] fields, int from) {
        return new Holding(
                Integer.parseInt(fields[from]),
                Integer.parseInt(fields[from + 1]),
                Long.parseLong(fields[from + 2]),
                Long.parseLong(fields[from + 3]),
                Holding.Others.of(Boolean.parseBoolean(fields[from + 4]), Boolean.parseBoolean(fields[from + 5])));
    }
}
