package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.MemberProcess;
import io.github.distributedpermit.harness.fleet.Store;
import io.github.distributedpermit.harness.fleet.WrongClock;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One member more, whose wall clock is wrong and jumps. */
final class WallClock {

    private static final Duration EXACT = Duration.ofSeconds(5);

    private static final List<Duration> OFFSETS = List.of(
            Duration.ofMinutes(-1), Duration.ofHours(1), Duration.ZERO, Duration.ofDays(-1), Duration.ofMinutes(1));

    private @Nullable WrongClock clock;
    private @Nullable MemberProcess member;
    private int next;

    /** The clock jumps while the member holds. */
    boolean strike(Stage stage, Store store) throws Exception {
        WrongClock wrong = clock == null ? WrongClock.in(stage.crew().folder(), Duration.ofMinutes(1)) : clock;
        MemberProcess misled = member == null ? stage.crew().start(wrong) : member;
        if (member == null) {
            stage.crew().load(misled);
        }
        clock = wrong;
        member = misled;
        stage.aim(call -> call.member() == misled.number() && call.isInside());
        int from = stage.log().size();
        Duration offset = OFFSETS.get(next++ % OFFSETS.size());
        wrong.set(offset);
        boolean hit = stage.someone(call -> call.member() == misled.number() && call.isInside());
        stage.await("the clock to jump", () -> hasJumped(stage, misled, offset));
        stage.awaitFlow();
        stage.log().calls(from).stream()
                .filter(call -> call.lost() != 0)
                .forEach(call -> stage.expect(false, "a permit was lost: " + call));
        return hit;
    }

    private static boolean hasJumped(Stage stage, MemberProcess misled, Duration offset) {
        try {
            long before = System.nanoTime();
            String[] answer = misled.ask("clock").split(" ");
            long nanos = Long.parseLong(answer[2]);
            stage.expect(nanos >= before && nanos <= System.nanoTime(), "its monotonic clock is another than ours");
            long off = Long.parseLong(answer[1]) - System.currentTimeMillis() - offset.toMillis();
            return Math.abs(off) < EXACT.toMillis();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
