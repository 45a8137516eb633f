package io.github.distributedpermit.benchmark.fleet;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Where the stores are, for every process of a run.
 *
 * @param redisPorts of the loopback interface: none, one of a standalone server, or those of the masters of a Redis Cluster
 * @param zooKeeper connect string, empty for none
 * @param consulPort HTTP port of the loopback interface, 0 for none
 * @param database URL, empty for none
 */
public record Stores(List<Integer> redisPorts, String zooKeeper, int consulPort, String database) {

    /** No store at all. */
    public static Stores none() {
        return new Stores(List.of(), "", 0, "");
    }

    /** A standalone Redis alone. */
    public static Stores redis(int port) {
        return redisCluster(List.of(port));
    }

    /** A Redis Cluster alone. */
    public static Stores redisCluster(List<Integer> ports) {
        return new Stores(List.copyOf(ports), "", 0, "");
    }

    /** ZooKeeper alone. */
    public static Stores zooKeeper(String connect) {
        return new Stores(List.of(), connect, 0, "");
    }

    /** Consul alone. */
    public static Stores consul(int port) {
        return new Stores(List.of(), "", port, "");
    }

    /** The same and a database. */
    public Stores with(String url) {
        return new Stores(redisPorts, zooKeeper, consulPort, url);
    }

    /** The port of the standalone Redis. */
    int redisPort() {
        if (redisPorts.size() != 1) {
            throw new IllegalStateException("This contender needs a standalone Redis; the ports are " + redisPorts);
        }
        return redisPorts.get(0);
    }

    /** As one argument of a command line. */
    public String asArgument() {
        String ports = redisPorts.stream().map(String::valueOf).collect(Collectors.joining("+"));
        return String.join(";", ports, zooKeeper, Integer.toString(consulPort), database);
    }

    /** The reverse. */
    public static Stores parse(String argument) {
        String[] parts = argument.split(";", -1);
        List<Integer> ports = Stream.of(parts[0].split("\\+"))
                .filter(port -> !port.isEmpty())
                .map(Integer::valueOf)
                .toList();
        return new Stores(ports, parts[1], Integer.parseInt(parts[2]), parts[3]);
    }
}
