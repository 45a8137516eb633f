package io.github.distributedpermit.core.key;

import static net.bytebuddy.matcher.ElementMatchers.named;

import io.github.distributedpermit.core.call.CallMistakes;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.implementation.FixedValue;
import net.bytebuddy.implementation.Implementation;
import net.bytebuddy.pool.TypePool;
import org.jspecify.annotations.Nullable;

/** A mistake that can be planted in the compiled core, in the store or in both. Production code knows nothing of it. */
enum Mutant {
    ANSWERS_UNCAPPED("SentClaims", "leastHeldAfter", FixedValue.value(Integer.MAX_VALUE)),
    NO_VERSION_TEST("Ledger", "isNews", Mistakes.NoVersionTest.class),
    APPLIED_UNCONDITIONALLY("Ledger", "apply", Mistakes.AppliedUnconditionally.class),
    ONLY_THE_LAST_COUNTS("Ledger", "apply", Mistakes.OnlyTheLastCounts.class),
    DEADLINE_FROM_ANSWER("Ledger", "apply", Mistakes.DeadlineFromAnswer.class),
    DEADLINE_BEYOND_LEASE("Ledger", "apply", Mistakes.TooLateCounts.class),
    GROWN_BEFORE_ANSWER("Ledger", "shrinkTo", Mistakes.GrownBeforeAnswer.class),
    SHRUNK_AFTER_SENDING("Ledger", "shrinkTo", Mistakes.Skipped.class),
    VERSION_ALONE_AND_RESTARTING(
            "Ledger", "isNews", Mistakes.VersionAlone.class, ModelTable.Mistake.VERSION_RESTARTS_AT_ONE),
    TOKEN_IS_VERSION("Ledger", "grant", Mistakes.TokenIsVersion.class),
    LIMIT_LOWERED_UNHEARD("Ledger", "isOver", FixedValue.value(false)),
    LOSS_IGNORED("Holders", "loseDownTo", Mistakes.LossIgnored.class),
    NO_RECHECK("ClaimPlan", "confirmed,makeClaim", Mistakes.NoRecheck.class),
    NEVER_LEARNS("ClaimPlan", "nextTimed", Mistakes.NeverLearns.class),
    GIVE_UP_FORGOTTEN("Ledger", "owes", FixedValue.value(false)),
    LATE_ANSWER_TAKEN_FOR_ONE("Ledger", "isOfLaterClaim", FixedValue.value(false)),
    LAST_LEAVES_SILENTLY("ClaimPlan", "isDue", Mistakes.LastLeavesSilently.class),
    NO_PATIENCE("ClaimPlan", "maySend", Mistakes.NoPatience.class),
    MISSING_ANSWER_FORGOTTEN("SentClaim", "isOverdue", FixedValue.value(false)),
    NO_BACKOFF("Backoff", "failed", Mistakes.NoBackoff.class),
    SEVERAL_IN_FLIGHT_WHILE_AWAY("Backoff", "isFailing", FixedValue.value(false)),
    IDLE_PART_KEPT("KeyQueueState", "returnIdle", Mistakes.IdlePartKept.class),
    HEAVY_JUDGED_TOO_EARLY("Rejections", "rejectTooHeavy", Mistakes.JudgedTooEarly.class),
    RENEWED_WITHOUT_ANSWERS("ClaimPlan", "getsNoAnswers", FixedValue.value(false)),
    STANDSTILL_UNNOTICED("ClaimFailures", "stoodStill", Mistakes.Skipped.class),
    LEFT_BROKEN("KeyQueueState", "mend", Mistakes.Skipped.class),
    TIMER_WHILE_WINDOW_FULL("KeyQueueState", "nextTime", Mistakes.TimerWhileFull.class),
    HELD_IS_RECLAIMED("ClaimPlan", "validlyHeld", Mistakes.HeldIsReclaimed.class),
    FOREIGN_ANSWERS_APPLIED("Ledger", "isOfAnotherEpoch", FixedValue.value(false)),
    OLD_RECORDS_KEPT("spi.step.LeasedGrace", "isLost", FixedValue.value(false)),
    GRANTED_BEYOND_THE_POOL("spi.step.Grace", "cap", Mistakes.CapIgnored.class),
    EPOCH_UNCHECKED("spi.step.LeasedGrace", "isDue", FixedValue.value(false)),
    HALF_A_LEASE_OF_GRACE("spi.step.StatedLeases", "longest", Mistakes.Halved.class),
    ONLY_THE_LEASE_OF_THE_CLAIMER_COUNTS("spi.step.StatedLeases", "state", Mistakes.OtherLeasesForgotten.class),
    LEASES_THAT_MEMBERS_KNOW_IGNORED("spi.step.Lineage", "check", Mistakes.KnownLeaseIgnored.class),
    VERSIONS_THAT_MEMBERS_KNOW_IGNORED("Ledger", "highestVersion", FixedValue.value(0L)),
    AN_EARLIER_CHECK_COUNTS("spi.step.LeasedGrace", "isDue", Mistakes.EarlierCheckCounts.class),
    EVERY_CLAIM_COUNTS_AS_RECLAIMED("spi.step.Grace", "readmit", Mistakes.CountedAlways.class),
    NO_SECOND_GRACE("spi.step.LeasedGrace", "isLost", Mistakes.NotLostInGrace.class),
    ONLY_GRANTS_CHECK("spi.step.LeasedGrace", "isDue", Mistakes.OnlyGrantsCheck.class),
    RECLAIMED_AFTER_THE_GRACE("spi.step.LeasedGrace", "reclaimable", Mistakes.ReclaimedAlways.class),
    OTHER_KEYS_GO_ON("spi.step.LeasedGrace", "wentOnBeforeALoss", FixedValue.value(false)),
    CLOCK_NOT_COMPARED("spi.step.Lineage", "isAheadOf", FixedValue.value(false)),
    NO_SALT("spi.step.Lineage", "saltAt", FixedValue.value(0L)),
    GRACE_ENDS_EARLY("spi.step.Grace", "cap", Mistakes.EndsEarly.class),
    SAME_RUN_IS_ENOUGH("spi.step.Lineage", "isContinuedBy", Mistakes.SameRunIsEnough.class),
    MEMORY_OF_MEMBERS_IGNORED("spi.step.Lineage", "check", Mistakes.MemoryIgnored.class),
    NEVER_OPENED("spi.step.Lineage", "open", Mistakes.Skipped.class),
    OPENED_WITH_ITS_RECORDS("spi.step.Lineage", "open", Mistakes.OnlyOpened.class),
    ANSWERS_COUNT_WITHOUT_A_REPLICA("GraceNode", "isCopied", FixedValue.value(true)),
    NOTIFICATIONS_COUNT_WITHOUT_A_REPLICA("GraceLink", "countsNotifications", FixedValue.value(true)),
    NO_FREE_PERMIT_WHILE_LEAVING("member.KeyRegistry", "admit", Mistakes.AdmitsNone.class),
    HEAD_START_IGNORED("Waiter", "startAhead", Mistakes.Skipped.class),
    HEAD_START_UNBOUNDED("Waiter", "startAhead", Mistakes.StartsTooFarAhead.class),
    HEAD_START_UNREPORTED("ClaimPlan", "isOlderThanStated", FixedValue.value(false)),
    ASKED_FOR_MORE_THAN_HEAD_STARTS("WaiterQueue", "weightInTurn", Mistakes.AllAreInTurn.class),
    PASSED_ON_AFTER_A_HEAD_START("Ledger", "isGrantedAhead", FixedValue.value(false)),
    PLACE_OF_A_HEAD_START_KEPT("ClaimPlan", "hasLostHeadStart", FixedValue.value(false)),
    PASSED_ON_UNDER_A_LOWER_LIMIT("KeyQueueState", "limitOfIdle", FixedValue.value(0)),
    LOWER_LIMIT_OF_A_CALL_BLOCKS("Waiter", "wasTriedBy", FixedValue.value(false)),
    REJECTED_UNDER_ANOTHERS_LIMIT("WaiterQueue", "isAnswered", Mistakes.AnyAnswerRejects.class),
    TRIED_ONLY_ONCE("WaiterQueue", "tryAgain", Mistakes.Skipped.class),
    GROUPS_IGNORED("Waiter", "isFairBefore", FixedValue.value(false)),
    WEIGHTS_OF_GROUPS_IGNORED("Waiter", "isFairBefore", Mistakes.WeightIgnored.class),
    AGE_OF_THE_NEXT_GROUP("WaiterQueue", "oldest", Mistakes.OldestIsHead.class),
    NO_TURNS("FairGroups", "served", Mistakes.Skipped.class),
    GROUPS_KEPT("FairGroup", "dropIfUnused", Mistakes.Skipped.class),
    ORDER_OF_REQUESTS(".TakingOrder", "of", Mistakes.AsAsked.class),
    KEPT_WITHOUT_THE_REST(".AllOrNothing$Taking", "giveBack", Mistakes.Skipped.class),
    CANCEL_LEAKS("call.FutureCall", "end", CallMistakes.CancelLeaks.class),
    SEQUENCE_IGNORED(ModelTable.Mistake.SEQUENCE_IGNORED),
    ZERO_RECORD_DELETED(ModelTable.Mistake.ZERO_RECORD_DELETED),
    HEAD_JUDGED_BY_THE_FREER(ModelTable.Mistake.HEAD_JUDGED_BY_THE_FREER),
    SERVED_MOVES_TO_THE_TAIL(ModelTable.Mistake.SERVED_MOVES_TO_THE_TAIL),
    DEAD_MEMBER_STAYS(ModelTable.Mistake.DEAD_MEMBER_STAYS),
    UNIT_IGNORED(ModelTable.Mistake.UNIT_IGNORED),
    HEAD_THAT_NEVER_FITS_BLOCKS(ModelTable.Mistake.HEAD_THAT_NEVER_FITS_BLOCKS),
    TRY_BARGES(ModelTable.Mistake.TRY_BARGES),
    LOWER_LIMIT_BLOCKS(ModelTable.Mistake.LOWER_LIMIT_BLOCKS),
    HEAVY_HEAD_IS_PASSED(ModelTable.Mistake.HEAVY_HEAD_IS_PASSED),
    PASSED_HEAD_MOVES_TO_THE_TAIL(ModelTable.Mistake.PASSED_HEAD_MOVES_TO_THE_TAIL);

    private static final String PACKAGE = "io.github.distributedpermit.";

    private final List<Change> changes;
    private final ModelTable.@Nullable Mistake inStore;

    Mutant(String type, String methods, Object wrong) {
        this(change(type, methods, wrong));
    }

    Mutant(Change... changes) {
        this(null, changes);
    }

    Mutant(ModelTable.Mistake inStore) {
        this(inStore, new Change[0]);
    }

    Mutant(String type, String methods, Object wrong, ModelTable.Mistake inStore) {
        this(inStore, change(type, methods, wrong));
    }

    Mutant(ModelTable.@Nullable Mistake inStore, Change... changes) {
        this.inStore = inStore;
        this.changes = List.of(changes);
    }

    private static Change change(String type, String methods, Object wrong) {
        String inCore = "core." + (type.contains(".") ? type : "key." + type);
        String inApi = type.startsWith(".") ? type.substring(1) : inCore;
        return new Change(PACKAGE + (type.startsWith("spi.") ? type : inApi), List.of(methods.split(",")), wrong);
    }

    /**
     * A class with other code in some of its methods.
     *
     * @param wrong an {@link Implementation} that replaces them, or a class of {@link Advice} around them
     */
    private record Change(String type, List<String> methods, Object wrong) {
        DynamicType.Builder<?> in(DynamicType.Builder<?> builder) {
            DynamicType.Builder<?> changed = builder;
            for (String method : methods) {
                changed = wrong instanceof Implementation replacement
                        ? changed.method(named(method)).intercept(replacement)
                        : changed.visit(Advice.to((Class<?>) wrong).on(named(method)));
            }
            return changed;
        }
    }

    /** A world of classes with this mistake in it. */
    World world() {
        return new World(this);
    }

    /** The classes that this mistake changes, by name, and what they are changed to. */
    Map<String, byte[]> changedCode() throws IOException {
        Map<String, byte[]> code = new HashMap<>();
        for (Change change : changes) {
            String resource = change.type.replace('.', '/') + ".class";
            try (InputStream in = Mutant.class.getClassLoader().getResourceAsStream(resource)) {
                if (in == null) {
                    throw new IllegalArgumentException(this + " changes a class that is not there: " + change.type);
                }
                code.put(change.type, mutate(change.type, in.readAllBytes()));
            }
        }
        return code;
    }

    private byte[] mutate(String name, byte[] original) {
        List<Change> here = changes.stream().filter(c -> c.type.equals(name)).toList();
        if (here.isEmpty()) {
            return original;
        }
        ClassFileLocator locator = new ClassFileLocator.Compound(
                ClassFileLocator.Simple.of(name, original),
                ClassFileLocator.ForClassLoader.of(Mutant.class.getClassLoader()));
        DynamicType.Builder<?> builder = new ByteBuddy()
                .redefine(TypePool.Default.of(locator).describe(name).resolve(), locator);
        for (Change change : here) {
            builder = change.in(builder);
        }
        return builder.make().getBytes();
    }

    /** Loads the project's own classes anew, one of them changed. */
    static final class World extends ClassLoader {

        private final Mutant mutant;

        World(Mutant mutant) {
            super(Mutant.class.getClassLoader());
            this.mutant = mutant;
        }

        /** What the simulation finds with this seed; {@code null} for nothing. */
        @Nullable
        String finding(long seed) {
            return (String)
                    run(Simulation.class, "findingOf", seed, mutant.inStore == null ? "" : mutant.inStore.name());
        }

        /** What a static method of a simulation returns for this seed and setting. */
        @Nullable
        Object run(Class<?> simulation, String method, long seed, String setting) {
            try {
                Method run = loadClass(simulation.getName()).getDeclaredMethod(method, long.class, String.class);
                run.setAccessible(true);
                return run.invoke(null, seed, setting);
            } catch (InvocationTargetException e) {
                throw new AssertionError(e.getCause());
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        /** How a test of the core fails in this world; {@code null} if it does not. */
        @Nullable
        Throwable failure(Class<?> test, String method) throws ReflectiveOperationException {
            Constructor<?> made = loadClass(test.getName()).getDeclaredConstructor();
            made.setAccessible(true);
            Object instance = made.newInstance();
            Method run = instance.getClass().getDeclaredMethod(method);
            run.setAccessible(true);
            try {
                run.invoke(instance);
                return null;
            } catch (InvocationTargetException e) {
                return e.getCause();
            }
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                if (known != null || !name.startsWith(PACKAGE)) {
                    return known != null ? known : super.loadClass(name, resolve);
                }
                byte[] code = mutant.mutate(name, read(name));
                return defineClass(name, code, 0, code.length);
            }
        }

        private byte[] read(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                return in.readAllBytes();
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }
}
