package io.github.distributedpermit.benchmark.fleet;

/**
 * Where the stores are, for every process of a run.
 *
 * @param redisPort of the loopback interface, 0 for none
 * @param zooKeeper connect string, empty for none
 * @param consulPort HTTP port of the loopback interface, 0 for none
 */
public record Stores(int redisPort, String zooKeeper, int consulPort) {

    /** Redis alone. */
    public static Stores redis(int port) {
        return new Stores(port, "", 0);
    }

    /** As one argument of a command line. */
    public String asArgument() {
        return redisPort + "," + zooKeeper + "," + consulPort;
    }

    /** The reverse. */
    public static Stores parse(String argument) {
        String[] parts = argument.split(",", -1);
        return new Stores(Integer.parseInt(parts[0]), parts[1], Integer.parseInt(parts[2]));
    }
}
