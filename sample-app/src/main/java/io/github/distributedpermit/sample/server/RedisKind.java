package io.github.distributedpermit.sample.server;

import java.io.File;
import java.io.IOException;
import java.util.List;
import redis.embedded.core.ExecutableProvider;

/** Redis, with an executable from the artifact embedded-redis. */
final class RedisKind implements ServerKind {

    @Override
    public String title() {
        return "Redis";
    }

    @Override
    public String portSetting() {
        return "sample.embedded-redis.port";
    }

    @Override
    public String settingsOfAnother() {
        return "--spring.data.redis.host=<host> --spring.data.redis.port=<port>";
    }

    @Override
    public ServerLink open(int port) throws IOException {
        return RedisLink.open(port);
    }

    @Override
    public List<String> prepare(ServerDirectory directory, int port) throws IOException {
        File executable = ExecutableProvider.newJarResourceProvider(
                        directory.path().toFile())
                .get();
        directory.copy("redis.conf");
        return List.of(
                executable.getPath(),
                "redis.conf",
                "--port",
                "" + port,
                "--dir",
                directory.path().toString());
    }

    /** A gentler signal would be lost on a server that is just starting, and there is nothing to save. */
    @Override
    public String stopSignal() {
        return "KILL";
    }
}
