package io.github.distributedpermit.benchmark.fleet;

import java.util.List;

/**
 * The transport of all clients of Redis: NIO, as an application has it that adds no native library. ZooKeeper's client brings
 * Netty's epoll to the class path, which Lettuce would use and Redisson would not. Stateless.
 */
public final class Transport {

    private static final List<String> NATIVE = List.of("io.lettuce.core.epoll", "io.lettuce.core.iouring");

    private Transport() {}

    /** Chooses it in this process, before Lettuce is used. */
    public static void choose() {
        NATIVE.forEach(name -> System.setProperty(name, "false"));
    }

    /** Chooses it in another process. */
    public static List<String> arguments() {
        return NATIVE.stream().map(name -> "-D" + name + "=false").toList();
    }
}
