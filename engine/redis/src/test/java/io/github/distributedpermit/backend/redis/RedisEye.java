package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A connection on which a test reads the state of the server and acts as its operator. Not thread-safe. */
final class RedisEye implements AutoCloseable {

    private static final RedisCodec<String, byte[]> CODEC = RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE);

    private final RedisClient client;
    private final StatefulRedisConnection<String, byte[]> connection;

    RedisEye(RedisServer server) {
        client = server.client();
        connection = client.connect(CODEC);
    }

    RedisCommands<String, byte[]> commands() {
        return connection.sync();
    }

    /** The keys of permits, without the names of members, and without the lineage, which stays by design. */
    List<String> keys(String prefix) {
        return commands().keys(prefix + ":*").stream()
                .filter(key -> !key.startsWith(prefix + ":name:") && !key.endsWith(":lineage"))
                .toList();
    }

    Map<String, byte[]> state(String prefix, String key) {
        return commands().hgetall(RedisKey.of(prefix, key).toString());
    }

    /** Claims one permit each for members that have no process. */
    void crowd(String prefix, String key, int members, Duration lease) {
        RedisKey redisKey = RedisKey.of(prefix, key);
        Stream<byte[]> lineage = Stream.of(new LineageNames(prefix).of(redisKey, false));
        String[] names = Stream.concat(Arrays.stream(redisKey.names()), lineage)
                .map(name -> new String(name, StandardCharsets.UTF_8))
                .toArray(String[]::new);
        Claim claim = Claim.of(key, 1, lease).limit(members).wanted(1).queued(1);
        byte[] packed = Packed.claim(claim);
        for (int i = 0; i < members; i++) {
            byte[] id = ("member-" + i).getBytes(StandardCharsets.UTF_8);
            commands().<byte[]>eval(Script.CLAIMS.source(), ScriptOutputType.VALUE, names, id, packed);
        }
    }

    /** Subscribes to the channels of the members of a {@linkplain #crowd crowd}. */
    void subscribeForCrowd(String prefix, int members) {
        String[] channels = IntStream.range(0, members)
                .mapToObj(i -> prefix + ":member:member-" + i)
                .toArray(String[]::new);
        client.connectPubSub().sync().subscribe(channels);
    }

    /** The messages on a channel from now on; a character for each byte. */
    List<String> messages(String channel) {
        List<String> received = new CopyOnWriteArrayList<>();
        StatefulRedisPubSubConnection<String, byte[]> subscribed = client.connectPubSub(CODEC);
        subscribed.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String from, byte[] message) {
                received.add(new String(message, StandardCharsets.ISO_8859_1));
            }
        });
        subscribed.sync().subscribe(channel);
        return received;
    }

    /** Holds claims and published messages back until {@link #resumeWrites}; the commands of this class that read go on. */
    void pauseWrites() {
        client("PAUSE", "600000", "WRITE");
    }

    void resumeWrites() {
        client("UNPAUSE");
    }

    private void client(String... words) {
        dispatch(CommandType.CLIENT, words);
    }

    void acl(String... words) {
        dispatch(CommandType.ACL, words);
    }

    private void dispatch(CommandType command, String... words) {
        CommandArgs<String, byte[]> arguments = new CommandArgs<>(CODEC);
        for (String word : words) {
            arguments.add(word);
        }
        commands().dispatch(command, new StatusOutput<>(CODEC), arguments);
    }

    /** A number in the answer of {@code INFO}, such as {@code total_commands_processed}. */
    long info(String section, String name) {
        return commands()
                .info(section)
                .lines()
                .filter(line -> line.startsWith(name + ":"))
                .mapToLong(
                        line -> Long.parseLong(line.substring(name.length() + 1).trim()))
                .findFirst()
                .orElseThrow();
    }

    /** How often commands were called, also by scripts. */
    long calls(String command) {
        return commands()
                .info("commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_" + command))
                .mapToLong(line -> Long.parseLong(line.replaceAll(".*:calls=(\\d+).*", "$1")))
                .sum();
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }
}
