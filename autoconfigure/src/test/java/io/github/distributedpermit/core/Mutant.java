package io.github.distributedpermit.core;

import static net.bytebuddy.matcher.ElementMatchers.named;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
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
    NO_RECHECK("ClaimPlan", "confirmed,send", Mistakes.NoRecheck.class),
    NEVER_LEARNS("ClaimPlan", "nextTimed", Mistakes.NeverLearns.class),
    GIVE_UP_FORGOTTEN("ClaimPlan", "owe", Mistakes.GiveUpForgotten.class),
    LAST_LEAVES_SILENTLY("ClaimPlan", "isDue", Mistakes.LastLeavesSilently.class),
    NO_PATIENCE("ClaimPlan", "maySend", Mistakes.NoPatience.class),
    OWED_SENT_AGAIN("SentClaims", "isInFlight", FixedValue.value(false)),
    NO_BACKOFF("Backoff", "failed", Mistakes.NoBackoff.class),
    SEVERAL_IN_FLIGHT_WHILE_AWAY("Backoff", "isFailing", FixedValue.value(false)),
    IDLE_PART_KEPT("LineState", "returnIdle", Mistakes.IdlePartKept.class),
    HEAVY_JUDGED_TOO_EARLY("LineState", "rejectTooHeavy", Mistakes.JudgedTooEarly.class),
    TIMER_WHILE_WINDOW_FULL("LineState", "nextTime", Mistakes.TimerWhileFull.class),
    CANCEL_LEAKS("FutureCall", "end", Mistakes.CancelLeaks.class),
    SEQUENCE_IGNORED(ModelTable.Mistake.SEQUENCE_IGNORED),
    ZERO_RECORD_DELETED(ModelTable.Mistake.ZERO_RECORD_DELETED),
    HEAD_JUDGED_BY_THE_FREER(ModelTable.Mistake.HEAD_JUDGED_BY_THE_FREER),
    SERVED_MOVES_TO_THE_TAIL(ModelTable.Mistake.SERVED_MOVES_TO_THE_TAIL),
    DEAD_MEMBER_STAYS(ModelTable.Mistake.DEAD_MEMBER_STAYS),
    UNIT_IGNORED(ModelTable.Mistake.UNIT_IGNORED),
    HEAD_THAT_NEVER_FITS_BLOCKS(ModelTable.Mistake.HEAD_THAT_NEVER_FITS_BLOCKS),
    TRY_BARGES(ModelTable.Mistake.TRY_BARGES);

    private static final String PACKAGE = "io.github.distributedpermit.";

    private final String type;
    private final String methods;
    private final @Nullable Object wrong;
    private final ModelTable.@Nullable Mistake inStore;

    Mutant(String type, String methods, Object wrong) {
        this(type, methods, wrong, null);
    }

    Mutant(ModelTable.Mistake inStore) {
        this("", "", null, inStore);
    }

    Mutant(String type, String methods, @Nullable Object wrong, ModelTable.@Nullable Mistake inStore) {
        this.type = type;
        this.methods = methods;
        this.wrong = wrong;
        this.inStore = inStore;
    }

    /** A world of classes with this mistake in it. */
    World world() {
        return new World(this);
    }

    /** The one class that this mistake changes. */
    String changedClass() {
        return PACKAGE + "core." + type;
    }

    /** What it is changed to. */
    byte[] changedCode() throws IOException {
        String resource = changedClass().replace('.', '/') + ".class";
        try (InputStream in = Mutant.class.getClassLoader().getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalArgumentException(this + " changes no class");
            }
            return mutate(changedClass(), in.readAllBytes());
        }
    }

    private byte[] mutate(String name, byte[] original) {
        if (!name.equals(changedClass())) {
            return original;
        }
        ClassFileLocator locator = new ClassFileLocator.Compound(
                ClassFileLocator.Simple.of(name, original),
                ClassFileLocator.ForClassLoader.of(Mutant.class.getClassLoader()));
        DynamicType.Builder<?> builder = new ByteBuddy()
                .redefine(TypePool.Default.of(locator).describe(name).resolve(), locator);
        for (String method : methods.split(",")) {
            builder = wrong instanceof Implementation replacement
                    ? builder.method(named(method)).intercept(replacement)
                    : builder.visit(Advice.to((Class<?>) wrong()).on(named(method)));
        }
        return builder.make().getBytes();
    }

    private Object wrong() {
        if (wrong == null) {
            throw new AssertionError(this);
        }
        return wrong;
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
            try {
                Method run =
                        loadClass(Simulation.class.getName()).getDeclaredMethod("findingOf", long.class, String.class);
                run.setAccessible(true);
                return (String) run.invoke(null, seed, mutant.inStore == null ? "" : mutant.inStore.name());
            } catch (InvocationTargetException e) {
                throw new AssertionError(e.getCause());
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
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
