package io.github.distributedpermit.backend.redis;

import io.lettuce.core.RedisURI;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.data.redis.connection.NamedNode;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The addresses of the servers, with the user, password, database and TLS settings of the application's factory. Immutable.
 *
 * <p>The URIs hold the password, so that only host and port are ever logged.
 */
final class ServerUris {

    /** Its type says which kind of servers there are. */
    private final RedisConfiguration servers;
    /** Has the client name, the TLS settings and, if set, the provider of credentials. */
    private final LettuceClientConfiguration client;
    /** Of each step of connecting; part of every URI. */
    private final Duration timeout;

    /**
     * Reads the factory's configuration.
     *
     * @param timeout bounds each step of connecting
     */
    ServerUris(LettuceConnectionFactory factory, Duration timeout) {
        this.servers = configuration(factory);
        this.client = factory.getClientConfiguration();
        this.timeout = timeout;
    }

    /**
     * What the factory was made with. It has no method for all kinds of it: not for static master and replica nodes, nor for one server, if it was made
     * with a {@code RedisConfiguration} in general, as {@code LettuceConnectionFactory.createRedisConfiguration} returns it:
     * {@code getStandaloneConfiguration} then has the defaults, which may lead to another server. A class proxy, such as one of a refresh scope, has
     * no values in its fields; its target has them.
     */
    private static RedisConfiguration configuration(LettuceConnectionFactory factory) {
        try {
            Field field = LettuceConnectionFactory.class.getDeclaredField("configuration");
            field.setAccessible(true); // NOPMD
            Object target = factory;
            while (target instanceof Advised proxy) {
                target = proxy.getTargetSource().getTarget();
            }
            return (RedisConfiguration) Objects.requireNonNull(field.get(target));
        } catch (Exception e) { // such as of the scope of the target
            throw new IllegalStateException(
                    "Which servers this LettuceConnectionFactory has can't be read in this version of Spring Data Redis; please "
                            + "report it",
                    e);
        }
    }

    /** Also for a configuration of a class of the application. */
    boolean isCluster() {
        return RedisConfiguration.isClusterConfiguration(servers);
    }

    /** Whether the server listens on a Unix domain socket instead of TCP. */
    boolean isUnixSocket() {
        return servers instanceof RedisConfiguration.DomainSocketConfiguration;
    }

    /** What the Sentinels call the master; {@code null} without Sentinels. */
    @Nullable
    String sentinelMaster() {
        NamedNode master = servers instanceof RedisSentinelConfiguration known ? known.getMaster() : null;
        return master == null ? null : master.getName();
    }

    /**
     * The nodes of a static master/replica configuration; empty for every other. In the order of the configuration,
     * by which all members choose the same master.
     */
    List<RedisURI> staticNodes() {
        if (!(servers instanceof RedisStaticMasterReplicaConfiguration known)) {
            return List.of();
        }
        return known.getNodes().stream()
                .map(node -> at(node.getHostName(), node.getPort()))
                .toList();
    }

    /** Only the first contact: the cluster itself says which other nodes there are. */
    List<RedisURI> clusterNodes() {
        return servers instanceof RedisConfiguration.ClusterConfiguration known
                ? StreamSupport.stream(known.getClusterNodes().spliterator(), false)
                        .map(node -> at(host(node), port(node)))
                        .toList()
                : List.of();
    }

    /**
     * The one server of a configuration that has one. Spring gives defaults for what a configuration leaves open, and
     * the same are used here.
     */
    RedisURI single() {
        if (servers instanceof RedisConfiguration.DomainSocketConfiguration socket) {
            return finish(authenticated(RedisURI.Builder.socket(socket.getSocket())));
        }
        RedisStandaloneConfiguration defaults = new RedisStandaloneConfiguration();
        return at(
                RedisConfiguration.getHostOrElse(servers, defaults::getHostName),
                RedisConfiguration.getPortOrElse(servers, defaults::getPort));
    }

    /**
     * A server that takes claims. Also the master that the Sentinels name, which has the user and password of the
     * servers.
     */
    RedisURI at(String host, int port) {
        return finish(authenticated(RedisURI.Builder.redis(host, port)));
    }

    /** The Sentinels, which have a user and a password of their own. */
    List<RedisURI> sentinels() {
        if (!(servers instanceof RedisSentinelConfiguration known)) {
            return List.of();
        }
        return known.getSentinels().stream().map(node -> sentinel(known, node)).toList();
    }

    /** A provider of credentials, for example of a cloud service, wins over a fixed user and password. */
    private RedisURI sentinel(RedisSentinelConfiguration known, RedisNode node) {
        RedisURI.Builder uri = RedisURI.Builder.redis(host(node), port(node));
        authenticate(uri, known.getSentinelUsername(), known.getSentinelPassword());
        client.getRedisCredentialsProviderFactory()
                .ifPresent(factory -> uri.withAuthentication(factory.createSentinelCredentialsProvider(known)));
        return common(uri).build();
    }

    /** The provider is applied last, so that it replaces the fixed credentials. */
    private RedisURI.Builder authenticated(RedisURI.Builder uri) {
        authenticate(
                uri,
                RedisConfiguration.getUsernameOrElse(servers, () -> null),
                RedisConfiguration.getPasswordOrElse(servers, RedisPassword::none));
        client.getRedisCredentialsProviderFactory()
                .ifPresent(factory -> uri.withAuthentication(factory.createCredentialsProvider(servers)));
        return uri;
    }

    /** Redis before 6 has no users, so that a password alone has to be sent without one. */
    private static void authenticate(RedisURI.Builder uri, @Nullable String user, RedisPassword password) {
        password.toOptional().ifPresent(secret -> {
            if (user == null || user.isBlank()) {
                uri.withPassword(secret);
            } else {
                uri.withAuthentication(user, secret);
            }
        });
    }

    /**
     * Adds what only servers have, and Sentinels have not: the database. A Sentinel refuses the command that selects
     * a database.
     */
    private RedisURI finish(RedisURI.Builder uri) {
        return common(uri)
                .withDatabase(RedisConfiguration.getDatabaseOrElse(servers, () -> 0))
                .build();
    }

    /** What servers and Sentinels have in common. The time-out bounds each step of connecting. */
    private RedisURI.Builder common(RedisURI.Builder uri) {
        client.getClientName().ifPresent(uri::withClientName);
        return uri.withSsl(client.isUseSsl())
                .withVerifyPeer(client.getVerifyMode())
                .withStartTls(client.isStartTls())
                .withTimeout(timeout);
    }

    private static String host(RedisNode node) {
        String host = node.getHost();
        if (host == null) {
            throw new IllegalStateException("A node of Redis has no host: " + node);
        }
        return host;
    }

    /** The default is that of Redis servers; Spring sets the one of Sentinels itself. */
    private static int port(RedisNode node) {
        Integer port = node.getPort();
        return port == null ? RedisURI.DEFAULT_REDIS_PORT : port;
    }
}
