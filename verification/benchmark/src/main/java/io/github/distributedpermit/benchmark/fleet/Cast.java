package io.github.distributedpermit.benchmark.fleet;

import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.ours.OnConsul;
import io.github.distributedpermit.benchmark.ours.OnDatabase;
import io.github.distributedpermit.benchmark.ours.OnRedis;
import io.github.distributedpermit.benchmark.ours.OnZooKeeper;
import io.github.distributedpermit.benchmark.ours.OurContender;
import io.github.distributedpermit.benchmark.ours.Settings;
import io.github.distributedpermit.benchmark.peers.ConsulFloor;
import io.github.distributedpermit.benchmark.peers.ConsulLock;
import io.github.distributedpermit.benchmark.peers.ConsulSlots;
import io.github.distributedpermit.benchmark.peers.CuratorContender;
import io.github.distributedpermit.benchmark.peers.JucContender;
import io.github.distributedpermit.benchmark.peers.OneAtATime;
import io.github.distributedpermit.benchmark.peers.RedisFloor;
import io.github.distributedpermit.benchmark.peers.RedissonContender;
import io.github.distributedpermit.benchmark.peers.SqlContender;
import io.github.distributedpermit.benchmark.peers.ZsetContender;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.metrics.MicrometerPermitObserver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;

/** All contenders by name, so that other processes can be told whom to run. */
public final class Cast {

    /** This project on Redis with its defaults. */
    public static final String OURS = "ours";

    /** The same; giving back waits for the store. */
    public static final String OURS_SYNC = ours("release: sync");

    /** The same with {@code linger: 1ms}. */
    public static final String OURS_LINGER = ours("linger: 1ms");

    /** The same with the meters that an application with Micrometer has. */
    public static final String OURS_METRICS = OURS + ", metrics on";

    /** The same without a grace after a loss of state. */
    public static final String OURS_WITHOUT_GRACE = OURS + ", grace: false";

    /** The lease of those whose name says it is short. */
    public static final Duration SHORT_LEASE = Duration.ofSeconds(3);

    /** The same with the short lease. */
    public static final String OURS_SHORT = ours("lease: " + SHORT_LEASE.toSeconds() + "s");

    /** Redisson's {@code RSemaphore}. */
    public static final String RSEMAPHORE = "RSemaphore";

    /** Redisson's {@code RPermitExpirableSemaphore}. */
    public static final String EXPIRABLE = "RPermitExpirableSemaphore";

    /** The same with the short lease. */
    public static final String EXPIRABLE_SHORT = "RPermitExpirableSemaphore, short lease";

    /** Sorted set, counter and BRPOP. */
    public static final String ZSET = "ZSET + BRPOP";

    /** A trivial script. */
    public static final String EVALSHA = "floor: EVALSHA";

    /** A script that does what any permit must that survives a crash: it reads the clock and a hash, and writes the hash. */
    public static final String CRASH_SAFE = "floor: TIME, HMGET, HSET";

    /** The cheapest command. */
    public static final String PING = "floor: PING";

    /** Curator's recipe. */
    public static final String CURATOR = "Curator";

    /** One created node. */
    public static final String CREATE = "floor: create";

    /** This project on ZooKeeper. */
    public static final String ZOOKEEPER = "ours, ZooKeeper";

    /** This project on Consul, layout slots. */
    public static final String CONSUL = "ours, Consul slots";

    /** The simplest implementation with slots. */
    public static final String CONSUL_SLOTS = "naive slots";

    /** The simplest implementation with the {@code .lock} document. */
    public static final String CONSUL_LOCK = "naive .lock";

    /** One write. */
    public static final String PUT = "floor: KV PUT";

    /** This project on PostgreSQL. */
    public static final String DATABASE = "ours, PostgreSQL";

    /** The same without what travels together: one statement after the other. */
    public static final String DATABASE_UNBATCHED = DATABASE + ", one at a time";

    /** A row for each permit, {@code FOR UPDATE SKIP LOCKED}. */
    public static final String SLOT_ROWS = "slot rows, SKIP LOCKED";

    /** Advisory locks of PostgreSQL. */
    public static final String ADVISORY = "advisory locks";

    /** What ShedLock sends to a database. */
    public static final String SHEDLOCK = "ShedLock's statements";

    /** This project in memory. */
    public static final String LOCAL = "ours, local";

    /** The JDK's semaphore. */
    public static final String JUC = "j.u.c.Semaphore";

    private static final long LONG_LEASE_MILLIS = 15_000;

    private Cast() {}

    /** This project on Redis with one setting, as in {@code linger: 1ms}. */
    public static String ours(String setting) {
        return OURS + ", " + setting;
    }

    /** Whether it is this project, with whatever store and settings. */
    public static boolean isOurs(String name) {
        return name.startsWith(OURS);
    }

    /** Makes a contender; it connects now or at its first use. */
    public static Contender make(String name, Stores stores) throws Exception {
        return switch (name) {
            case OURS -> OnRedis.contender(stores.redisPorts(), CoreSettings.DEFAULTS, Observers.NONE);
            case OURS_METRICS ->
                OnRedis.contender(
                        stores.redisPorts(),
                        CoreSettings.DEFAULTS,
                        new Observers(List.of(new MicrometerPermitObserver(new SimpleMeterRegistry()))));
            case OURS_WITHOUT_GRACE -> OnRedis.withoutGrace(stores.redisPorts());
            case RSEMAPHORE -> RedissonContender.semaphore(stores.redisPorts());
            case EXPIRABLE -> RedissonContender.expirable(stores.redisPorts(), LONG_LEASE_MILLIS);
            case EXPIRABLE_SHORT -> RedissonContender.expirable(stores.redisPorts(), SHORT_LEASE.toMillis());
            case ZSET -> new ZsetContender(stores.redisPort());
            case EVALSHA -> RedisFloor.evalsha(stores.redisPort());
            case CRASH_SAFE -> RedisFloor.crashSafe(stores.redisPort());
            case PING -> RedisFloor.ping(stores.redisPort());
            case CURATOR -> CuratorContender.semaphore(stores.zooKeeper());
            case CREATE -> CuratorContender.create(stores.zooKeeper());
            case ZOOKEEPER -> OnZooKeeper.contender(stores.zooKeeper());
            case CONSUL -> OnConsul.contender(stores.consulPort());
            case CONSUL_SLOTS -> new ConsulSlots(stores.consulPort());
            case CONSUL_LOCK -> new ConsulLock(stores.consulPort());
            case PUT -> new ConsulFloor(stores.consulPort());
            case DATABASE -> OnDatabase.contender(stores.database(), CoreSettings.DEFAULTS);
            case DATABASE_UNBATCHED ->
                new OneAtATime(OnDatabase.contender(stores.database(), Settings.of("release: sync")));
            case SLOT_ROWS -> SqlContender.slots(stores.database());
            case ADVISORY -> SqlContender.advisoryLocks(stores.database());
            case SHEDLOCK -> SqlContender.shedLock(stores.database());
            case LOCAL -> new OurContender(new LocalPermitBackend(), CoreSettings.DEFAULTS, () -> {});
            case JUC -> new JucContender();
            default -> OnRedis.contender(stores.redisPorts(), Settings.of(settingOf(name)), Observers.NONE);
        };
    }

    private static String settingOf(String name) {
        String prefix = ours("");
        if (!name.startsWith(prefix)) {
            throw new IllegalArgumentException("No contender is called " + name);
        }
        return name.substring(prefix.length());
    }
}
