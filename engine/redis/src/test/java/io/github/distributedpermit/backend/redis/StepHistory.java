package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.OverrideLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A random history of one key: claims of several members with weights and different limits, repeated and reordered claims,
 * overrides, expired leases and deleted keys. Applies each step to all forms and compares them. Not thread-safe.
 */
final class StepHistory {

    private static final long[] LEASES_MILLIS = {1_000, 3_000, 15_000, 3_600_000};

    private final SplittableRandom random;
    private final StepForms forms;
    private final int members;
    private final int mostLimit;
    private final boolean cluster;
    /** Whether the members notice that the server may have lost state. */
    private final boolean graced;
    /** When and how far the clock is set back. */
    private final SplittableRandom setBacks;
    /** What members know of the leases of others and of versions. */
    private final SplittableRandom known;

    /** How many of the leases are in use: with the longest one the grace after a loss of state outlasts the history. */
    private final int leases;

    /** The limit that most claims state, so that the fast path takes part; 0 if they state a low or a high one. */
    private final int commonLimit;

    private boolean clockIsSetBack;
    /** Whether the key is used now and then, with pauses in which bounds of leases and tombstones pass and the key expires. */
    private boolean sparse;

    private final SplittableRandom pauses;
    private final long[] sequences;
    private long epochs = 1;
    private int runs = 1;
    private final List<Sent> sent = new ArrayList<>();
    private final List<Sent> delayed = new ArrayList<>();
    private int claims;
    private @Nullable String difference;

    StepHistory(long seed, StepForms forms) {
        this.random = new SplittableRandom(seed);
        this.forms = forms;
        this.members = 1 + random.nextInt(StepForms.MEMBERS);
        this.mostLimit = random.nextBoolean() ? 3 : 12;
        this.cluster = random.nextInt(4) == 0;
        this.sequences = new long[members];
        this.graced = random.nextInt(3) > 0;
        this.setBacks = new SplittableRandom(~seed);
        this.pauses = new SplittableRandom(~seed + 2);
        this.commonLimit = seed % 3 == 0 ? 0 : 1 + new SplittableRandom(31 * seed).nextInt(mostLimit);
        this.known = new SplittableRandom(~seed + 1);
        this.leases = known.nextInt(4) == 0 ? LEASES_MILLIS.length : LEASES_MILLIS.length - 1;
        forms.startKey();
    }

    /** Sets the clock of the server back now and then; the history is the same otherwise. */
    StepHistory clockSetBack() {
        clockIsSetBack = true;
        return this;
    }

    /** Pauses of up to 40 s between many steps; deletes the key more often, as its expiry would. */
    StepHistory usedNowAndThen() {
        sparse = true;
        return this;
    }

    int claims() {
        return claims;
    }

    /** The first difference between two forms; null if there is none. */
    @Nullable
    String difference() {
        return difference;
    }

    StepHistory run(int steps) {
        for (int i = 0; i < steps && difference == null; i++) {
            passTime();
            String step = step();
            String found = forms.compare();
            if (found != null) {
                difference = "after step " + i + ", " + step + ": " + found;
            }
        }
        return this;
    }

    private void passTime() {
        if (clockIsSetBack && setBacks.nextInt(12) == 0) {
            forms.advance(-setBacks.nextInt(120_000_000));
        }
        if (sparse && pauses.nextInt(3) == 0) {
            forms.advance(pauses.nextInt(40_000_000));
        }
        int kind = random.nextInt(20);
        if (kind < 12) {
            forms.advance(random.nextInt(2_000));
        } else if (kind < 15) {
            forms.advance(random.nextInt(800_000));
        } else if (kind < 16) {
            forms.advance(random.nextInt(20_000_000));
        } else if (kind < 18) {
            forms.advanceToFirstExpiry();
        }
    }

    private String step() {
        if (sparse && pauses.nextInt(8) == 0) {
            forms.delete(true, pauses.nextBoolean());
            return "expiry of the key";
        }
        int kind = random.nextInt(100);
        if (kind < 3) {
            boolean whole = random.nextBoolean();
            forms.delete(whole, random.nextBoolean());
            return "deletion of " + (whole ? "the key" : "its state");
        }
        if (kind < 8) {
            OverrideLimit limit =
                    random.nextInt(3) == 0 ? OverrideLimit.empty() : OverrideLimit.of(random.nextInt(mostLimit + 1));
            forms.override(limit, cluster);
            return "override " + limit;
        }
        if (kind < 10 && graced) {
            return change();
        }
        Sent next = nextClaim();
        claims++;
        long knownLease = LEASES_MILLIS[known.nextInt(leases)] * 1_000 * known.nextInt(2);
        forms.claim(next.member, next.claim, knownLease, cluster, graced && random.nextInt(20) > 0);
        return next.toString();
    }

    /** The server is replaced, restarted or emptied, or only its epoch changes. */
    private String change() {
        long started = forms.now() - TimeUnit.HOURS.toMicros(1);
        switch (random.nextInt(6)) {
            case 0 -> forms.server(++epochs, ++runs, true, started);
            case 1 -> forms.server(++epochs, runs, true, started);
            case 2 -> forms.server(++epochs, runs, false, started);
            case 3 -> {
                forms.loseAll();
                forms.server(++epochs, ++runs, random.nextBoolean(), forms.now() - random.nextInt(5_000_000));
            }
            case 4 -> {
                forms.claimElsewhere(1 + random.nextInt(1_000_000));
                return "claim of another key";
            }
            default -> forms.loseAll();
        }
        return "change of the server to epoch " + epochs;
    }

    /** A new claim, one that was sent before, or one that was delayed while later ones were sent. */
    private Sent nextClaim() {
        int kind = random.nextInt(20);
        if (kind == 0 && !sent.isEmpty()) {
            return sent.get(random.nextInt(sent.size()));
        }
        if (kind == 1 && !sent.isEmpty()) {
            return sent.get(sent.size() - 1);
        }
        if (kind == 2 && !delayed.isEmpty()) {
            return delayed.remove(random.nextInt(delayed.size()));
        }
        if (kind == 3) {
            delayed.add(newClaim());
        }
        Sent made = newClaim();
        sent.add(made);
        return made;
    }

    private Sent newClaim() {
        int member = random.nextInt(members);
        int ownLimit = 1 + random.nextInt(mostLimit);
        int limit = sequences[member] % 12 == 11 ? ownLimit : commonLimit;
        if (commonLimit == 0) {
            limit = ownLimit % 2 == 0 ? 2 : mostLimit;
        }
        int wanted = random.nextInt(3) == 0 ? 0 : random.nextInt(5);
        int held = random.nextInt(4) == 0 ? random.nextInt(wanted + 1) : wanted;
        int unit = wanted == 0 ? 0 : random.nextInt(Math.min(wanted, 3) + 1);
        Duration waited = Duration.of(random.nextInt(2_000_000), TimeUnit.MICROSECONDS.toChronoUnit());
        Duration lease = Duration.ofMillis(LEASES_MILLIS[random.nextInt(LEASES_MILLIS.length) % leases]);
        boolean queue = random.nextInt(3) > 0;
        int kept = random.nextInt(6) == 0 ? random.nextInt(held + 1) : 0;
        long epoch = Math.max(0, forms.epoch() - (random.nextInt(20) == 0 ? random.nextInt(3) : 0));
        if (random.nextInt(3) == 0) {
            epoch = 0;
        }
        boolean probe = random.nextInt(30) == 0;
        long next = ++sequences[member];
        int beyond = queue && next % 3 == 0 ? (int) (next * 7_919 % 70_000) : 0;
        long version = forms.now() + 500_000 - known.nextInt(2_000_000);
        Claim claim = new Claim(
                "key",
                next,
                lease,
                new Claim.Counts(limit, held, wanted),
                new Claim.Head(unit, waited, queue),
                new Claim.Reclaim(kept, epoch, probe, version),
                new Claim.Shown(beyond));
        return new Sent(StepForms.member(member), claim);
    }

    private record Sent(String member, Claim claim) {}
}
