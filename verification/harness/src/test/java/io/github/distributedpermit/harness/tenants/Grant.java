package io.github.distributedpermit.harness.tenants;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * What a call got, as its caller saw it. Times are those of the machine's monotonic clock, which all of its processes read.
 *
 * @param kind what the load calls such a call
 * @param key of one permit
 * @param arrived before the call
 * @param granted after the permit was there
 * @param released before it was given back
 */
record Grant(String kind, String key, long arrived, long granted, long released) {

    void write(DataOutputStream out) throws IOException {
        out.writeUTF(kind);
        out.writeUTF(key);
        out.writeLong(arrived);
        out.writeLong(granted);
        out.writeLong(released);
    }

    static Grant read(DataInputStream in) throws IOException {
        return new Grant(in.readUTF(), in.readUTF(), in.readLong(), in.readLong(), in.readLong());
    }

    double waitedMillis() {
        return (granted - arrived) / 1e6;
    }
}
