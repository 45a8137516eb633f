package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.backend.redis.StepForms.Effect;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One key of a real Redis, changed by scripts whose clock the test sets. What a step needs is sent together, because waiting for each
 * answer would take most of the time of a history. Not thread-safe.
 */
final class ScriptedKey {

    private static final String TIME = "call('TIME')";
    private static final String INFO = "redis.pcall('INFO', section)";
    private static final String FAST_INFO = "pcall('INFO', 'replication')";
    private static final Duration NEW_SERVER_GRACE = Duration.of(StepForms.NEW_SERVER_GRACE, ChronoUnit.MICROS);

    private final String name;
    private final String prefix;
    private final RedisKey key;
    private final byte[][] names;
    private final Server server;
    private final String claims;
    private final String override;
    private @Nullable RedisFuture<byte[]> answer;
    private final List<Map.Entry<String, Holding>> notified = new ArrayList<>();

    private ScriptedKey(String name, Server server, String claims, String override) {
        this.name = name;
        this.prefix = name + "-" + server.id;
        this.key = RedisKey.of(prefix, "key");
        this.names = Arrays.copyOf(key.names(), 6);
        this.names[5] = new LineageNames(prefix).of(key, false);
        this.server = server;
        this.claims = server.load(claims.replace(
                "local function claim_slow_path(...)\n",
                "local function claim_slow_path(...)\nredis.call('INCR', '" + prefix + ":slow')\n"));
        this.override = server.load(override);
    }

    /** The script without the fast path: claims.lua and queued.lua. */
    static String slowPathOnly(String claims) {
        int start = claims.indexOf("\nend\nlocal function claim_in_queue");
        if (start < 0) {
            throw new IllegalStateException("The script is put together otherwise");
        }
        return claims.substring(0, start) + "\nend\nreturn claim_slow_path(KEYS, ARGV)\n";
    }

    String name() {
        return name;
    }

    long slowPathCalls() {
        byte[] calls = server.commands.get(RedisKey.bytes(prefix + ":slow"));
        return calls == null ? 0 : Long.parseLong(new String(calls, StandardCharsets.US_ASCII));
    }

    void claim(String member, Claim claim, long knownLease, boolean cluster, boolean graced) {
        byte[] packed = ClaimCodec.packClaims(
                List.of(new ClaimCall(claim, key)),
                StepForms.TOMBSTONE,
                cluster,
                call -> claim.reclaim().knownEpoch());
        byte[] id = RedisKey.bytes(member);
        answer = graced
                ? server.async.evalsha(claims, ScriptOutputType.VALUE, names, id, packed, grace(knownLease))
                : server.async.evalsha(claims, ScriptOutputType.VALUE, key.names(), id, packed);
    }

    private static byte[] grace(long knownLease) {
        return ClaimCodec.packGrace(NEW_SERVER_GRACE, knownLease);
    }

    /** A claim of another key of the same prefix, which then is gone. */
    void claimElsewhere(String member, Claim claim) {
        RedisKey other = RedisKey.of(prefix, claim.key());
        byte[][] theirs = Arrays.copyOf(other.names(), 6);
        theirs[5] = names[5];
        byte[] packed = ClaimCodec.packClaims(
                List.of(new ClaimCall(claim, other)),
                StepForms.TOMBSTONE,
                false,
                call -> claim.reclaim().knownEpoch());
        server.commands.evalsha(claims, ScriptOutputType.VALUE, theirs, RedisKey.bytes(member), packed, grace(0));
        server.commands.del(other.names());
    }

    /** Claims of another key and of this one, in one command. */
    void claimTogether(String member, Claim elsewhere, Claim claim) {
        RedisKey other = RedisKey.of(prefix, elsewhere.key());
        byte[][] all = Arrays.copyOf(other.names(), 11);
        System.arraycopy(names, 0, all, 5, 6);
        byte[] packed = ClaimCodec.packClaims(
                List.of(new ClaimCall(elsewhere, other), new ClaimCall(claim, key)),
                StepForms.TOMBSTONE,
                false,
                call -> call.claim.reclaim().knownEpoch());
        server.commands.evalsha(claims, ScriptOutputType.VALUE, all, RedisKey.bytes(member), packed, grace(0));
        server.commands.del(other.names());
    }

    /** The epoch of the server that has written last. */
    long lineageEpoch() {
        byte[] lineage = server.commands.get(names[5]);
        return Integer.toUnsignedLong(
                ByteBuffer.wrap(lineage).order(ByteOrder.LITTLE_ENDIAN).getInt());
    }

    void override(OverrideLimit limit, boolean cluster) {
        Object unused = server.commands.evalsha(
                override,
                ScriptOutputType.INTEGER,
                key.names(),
                RedisKey.bytes(Integer.toString(limit.orElse(-1))),
                RedisKey.bytes(limit.text()),
                RedisKey.bytes(""),
                RedisKey.bytes(cluster ? "1" : "0"));
    }

    void deleteLineage() {
        server.commands.del(names[5]);
    }

    void delete(boolean whole, boolean withOverride) {
        server.commands.del(whole ? new byte[][] {names[0], names[1], names[2], names[3]} : new byte[][] {names[0]});
        if (withOverride) {
            server.commands.del(names[4]);
        }
    }

    /** What the last step answered and notified. Notifications must have been awaited. */
    Effect takeEffect() {
        Holding view = answer == null ? null : ClaimCodec.readView(Server.await(answer), 0);
        Effect effect = new Effect(view, List.copyOf(notified));
        answer = null;
        notified.clear();
        return effect;
    }

    /** Asks for all that is stored after the last step. */
    Stored read() {
        return new Stored(
                server.async.hgetall(names[0]),
                server.async.get(names[4]),
                server.async.get(names[5]),
                Arrays.stream(names, 0, 4).map(server.async::pttl).toList());
    }

    private void receive(String channel, byte[] message) {
        String start = prefix + ":member:";
        if (channel.startsWith(start) && ClaimCodec.isGrant(message)) {
            notified.add(Map.entry(channel.substring(start.length()), ClaimCodec.readGrantedHolding(message)));
        }
    }

    /** Empty for an expired tombstone. */
    private static String record(ByteBuffer in, long now) {
        int permits = in.getInt();
        int wanted = in.getInt();
        int unit = in.getInt();
        int least = in.getInt();
        int limit = in.getInt();
        long sequence = (long) in.getDouble();
        long version = (long) in.getDouble();
        long expiry = (long) in.getDouble();
        in.getDouble();
        in.getDouble();
        boolean waiting = in.get() % 2 == 1;
        in.get();
        int beyond = in.hasRemaining() ? Short.toUnsignedInt(in.getShort()) : 0;
        if (permits == 0 && !waiting && expiry <= now) {
            return "";
        }
        return text(permits, wanted, unit, least, limit, sequence, version, expiry, waiting, beyond);
    }

    static String text(int used, OverrideLimit override, Map<String, String> records, String grace) {
        return "used %d, override %s, %s, %s".formatted(used, override, new TreeMap<>(records), grace);
    }

    static String text(
            int permits,
            int wanted,
            int unit,
            int least,
            int limit,
            long sequence,
            long version,
            long expiry,
            boolean waiting,
            int beyond) {
        String place = waiting ? ", waiting" : "";
        return "%d of %d (unit %d, least %d, limit %d, sequence %d, version %d, expiry %d%s, beyond %d)"
                .formatted(permits, wanted, unit, least, limit, sequence, version, expiry, place, beyond);
    }

    /** What Redis has of the key and of its lineage; the methods wait for its answers. */
    record Stored(
            RedisFuture<Map<byte[], byte[]>> state,
            RedisFuture<byte[]> override,
            RedisFuture<byte[]> lineage,
            List<RedisFuture<Long>> lives) {

        /** The longest lease that members have stated to the server, in microseconds; 0 if it knows of none. */
        long longestLease() {
            byte[] stated = Server.await(lineage);
            if (stated == null) {
                return 0;
            }
            ByteBuffer in = ByteBuffer.wrap(stated).order(ByteOrder.LITTLE_ENDIAN);
            return (long) Math.max(in.getDouble(16), in.getDouble(24));
        }

        /** Whether Redis would keep a part of the key for ever. */
        boolean staysForEver() {
            return lives.stream().anyMatch(life -> Server.await(life) == -1);
        }

        /** All records but expired tombstones, which a later claim removes, with the permits in use and the override. */
        String text(long now) {
            Map<String, String> records = new TreeMap<>();
            String grace = "no grace";
            int used = 0;
            byte[] limit = Server.await(override);
            for (Map.Entry<byte[], byte[]> field : Server.await(state).entrySet()) {
                String member = new String(field.getKey(), StandardCharsets.UTF_8);
                ByteBuffer in = ByteBuffer.wrap(field.getValue()).order(ByteOrder.LITTLE_ENDIAN);
                if (member.equals(Packed.HEADER)) {
                    used = Packed.Header.of(field.getValue()).used();
                } else if (member.equals("+")) {
                    in.getDouble();
                    double over = in.getDouble();
                    grace = over > now ? "grace until %d, %d back".formatted((long) over, in.getInt()) : grace;
                } else {
                    String record = record(in, now);
                    if (!record.isEmpty()) {
                        records.put(member, record);
                    }
                }
            }
            return ScriptedKey.text(
                    used,
                    limit == null || new String(limit, StandardCharsets.US_ASCII).equals("-1") // in a cluster
                            ? OverrideLimit.empty()
                            : OverrideLimit.of(Integer.parseInt(new String(limit, StandardCharsets.US_ASCII))),
                    records,
                    grace);
        }
    }

    /** The server, a subscription for all members, and the clock of the scripts. */
    static final class Server implements AutoCloseable {

        private static final byte[] BARRIER = RedisKey.bytes("barrier");

        private final String id = UUID.randomUUID().toString();
        private final RedisClient client;
        private final RedisCommands<byte[], byte[]> commands;
        private final RedisAsyncCommands<byte[], byte[]> async;
        private final StatefulRedisPubSubConnection<byte[], byte[]> subscription;
        private final BlockingQueue<Map.Entry<String, byte[]>> messages = new LinkedBlockingQueue<>();
        private final List<ScriptedKey> keys = new ArrayList<>();

        Server(RedisServer server) {
            client = server.client();
            StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE);
            commands = connection.sync();
            async = connection.async();
            subscription = client.connectPubSub(ByteArrayCodec.INSTANCE);
            subscription.addListener(new RedisPubSubAdapter<>() {
                @Override
                public void message(byte[] channel, byte[] message) {
                    messages.add(Map.entry(new String(channel, StandardCharsets.UTF_8), message));
                }
            });
            subscription.sync().subscribe(channel("barrier"));
        }

        ScriptedKey key(String name, String claims, String override) {
            ScriptedKey key = new ScriptedKey(name, this, claims, override);
            subscription
                    .sync()
                    .subscribe(IntStream.range(0, StepForms.MEMBERS)
                            .mapToObj(i -> RedisKeys.channel(key.prefix, StepForms.member(i)))
                            .toArray(byte[][]::new));
            keys.add(key);
            return key;
        }

        private static <T> T await(RedisFuture<T> answer) {
            return LettuceFutures.awaitOrCancel(answer, 30, TimeUnit.SECONDS);
        }

        private byte[] channel(String name) {
            return RedisKey.bytes(name + "-" + id);
        }

        private String load(String script) {
            String clock = "call('HMGET', 'clock-" + id + "', 's', 'us')";
            if (!script.contains(TIME)) {
                throw new IllegalStateException("The script reads no clock");
            }
            String info = "call('GET', 'info-" + id + "-' .. ";
            return commands.scriptLoad(RedisKey.bytes(script.replace(TIME, clock)
                    .replace(INFO, info + "section)")
                    .replace(FAST_INFO, info + "'replication')")));
        }

        /** What the scripts read instead of INFO. */
        void setIdentity(long epoch, String run, boolean promoted, long started, long now) {
            String id2 = promoted ? "1".repeat(40) : "0".repeat(40);
            String text = "role:master\r\nmaster_replid:%08x%s\r\nmaster_replid2:%s\r\n"
                    .formatted(epoch, "e".repeat(32), id2);
            String uptime =
                    "run_id:%s\r\nuptime_in_seconds:%d\r\n".formatted(run, now / 1_000_000 - started / 1_000_000);
            Object unused = async.mset(Map.of(
                    RedisKey.bytes("info-" + id + "-replication"), RedisKey.bytes(text),
                    RedisKey.bytes("info-" + id + "-server"), RedisKey.bytes(uptime)));
        }

        /** The scripts read that the server does not show its replication id, as some managed services do not. */
        void setNoIdentity() {
            for (String section : List.of("replication", "server")) {
                commands.set(RedisKey.bytes("info-" + id + "-" + section), RedisKey.bytes("role:master\r\n"));
            }
        }

        void setClock(long micros) {
            Object unused = async.hset(
                    channel("clock"),
                    Map.of(
                            RedisKey.bytes("s"), RedisKey.bytes(Long.toString(micros / 1_000_000)),
                            RedisKey.bytes("us"), RedisKey.bytes(Long.toString(micros % 1_000_000))));
        }

        /** Redis delivers the messages of a subscription in order: those before the barrier have arrived with it. */
        void awaitNotifications() {
            Object unused = async.publish(channel("barrier"), BARRIER);
            try {
                while (true) {
                    Map.Entry<String, byte[]> message = messages.poll(20, TimeUnit.SECONDS);
                    if (message == null) {
                        throw new IllegalStateException("The server delivers no messages");
                    }
                    if (message.getKey().equals("barrier-" + id)) {
                        return;
                    }
                    keys.forEach(key -> key.receive(message.getKey(), message.getValue()));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void close() {
            keys.forEach(key -> key.delete(true, true));
            keys.forEach(ScriptedKey::deleteLineage);
            commands.del(channel("clock"));
            commands.del(RedisKey.bytes("info-" + id + "-replication"), RedisKey.bytes("info-" + id + "-server"));
            client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        }
    }
}
