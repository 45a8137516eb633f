package io.github.distributedpermit.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.endpoint.PermitsView.Detail;
import io.github.distributedpermit.endpoint.PermitsView.Key;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.KeyList;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.Pause;
import io.github.distributedpermit.spi.PermitAccess;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.StoreGauges;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How much one request asks of the store, and how much it answers. */
class PermitsReaderTest {

    private static final PermitDefinition DEFINITION =
            PermitDefinition.named("tenant", "Test").limit(1).build();
    private static final Query ALL = new Query(null, 100, 500, 0);

    @Test
    void inspectsAFewKeysAtATimeSoThatClaimsDoNotHaveToWait() {
        Answering permits = new Answering(100, 5, 1, 1);
        Detail detail = reader(permits, Duration.ofSeconds(30)).detail(DEFINITION, ALL);
        assertThat(detail.keys()).hasSize(100).allMatch(key -> key.problem() == null);
        assertThat(permits.most).hasValueLessThanOrEqualTo(8);
    }

    @Test
    void doesNotInspectFurtherKeysOfAStoreThatDoesNotAnswer() {
        Answering permits = new Answering(100, 600_000, 1, 1);
        Detail detail = reader(permits, Duration.ofMillis(200)).detail(DEFINITION, ALL);
        assertThat(detail.keys()).hasSize(100).allMatch(key -> key.problem() != null);
        assertThat(permits.asked).hasValueLessThanOrEqualTo(8);
    }

    @Test
    void silenceOfTheStoreIsShownAlsoForAPermitThatNoCallUses() {
        Answering permits = new Answering(0, 1, 0, 0);
        assertThat(reader(permits, Duration.ofSeconds(30))
                        .detail(DEFINITION, ALL)
                        .keys())
                .as("a key that nothing uses")
                .isEmpty();
        permits.failing = "tenant";
        assertThat(reader(permits, Duration.ofSeconds(30))
                        .detail(DEFINITION, ALL)
                        .keys())
                .singleElement()
                .satisfies(key -> assertThat(key.problem()).contains("away"));
    }

    @Test
    void permitWithoutALimitHasNone() {
        Answering permits = new Answering(0, 1, 0, 0);
        permits.definition = PermitDefinition.named("tenant", "Test")
                .limit(PermitDefinition.UNLIMITED)
                .build();
        PermitsReader reader = reader(permits, Duration.ofSeconds(30));
        assertThat(reader.all("", List.of()).permits()).singleElement().satisfies(permit -> {
            assertThat(permit.limit()).isNull();
            assertThat(permit.statedLimit()).isNull();
            assertThat(permit.limitSource()).isEqualTo("none");
        });
        Detail detail = reader.detail(permits.definition, ALL);
        assertThat(detail.statedLimit()).isNull();
        assertThat(detail.keys()).singleElement().satisfies(key -> {
            assertThat(key.limit()).isNull();
            assertThat(key.limitSource()).isEqualTo("none");
        });
        permits.failing = "tenant";
        assertThat(reader.detail(permits.definition, ALL).keys())
                .as("its calls do not need the store")
                .singleElement()
                .satisfies(key -> assertThat(key.limitSource()).isEqualTo("none"));
    }

    /** The permit may be paused, whatever its key says. */
    @Test
    void noLimitIsSaidToBeInForceIfThePausesCannotBeRead() {
        Answering permits = new Answering(1, 1, 1, 1);
        permits.pauses = List.of(Pause.ofName("tenant"), Pause.ofApplication("orders"));
        assertThat(limit(permits)).isEqualTo(1);
        permits.failing = "distributed-permit.pause.";
        assertThat(limit(permits)).isNull();
        PermitsView list = reader(permits, Duration.ofSeconds(30)).all("", List.of());
        assertThat(list.permits()).singleElement().satisfies(permit -> {
            assertThat(permit.limitSource()).isNull();
            assertThat(permit.statedLimit()).isEqualTo(1);
        });
        assertThat(list.problem()).contains("away");
        Detail detail = reader(permits, Duration.ofSeconds(30)).detail(DEFINITION, ALL);
        assertThat(detail.problem()).contains("away");
        assertThat(detail.keys()).isNotEmpty().allSatisfy(key -> {
            assertThat(key.problem()).contains("away");
            assertThat(key.limit()).isNull();
            assertThat(key.limitSource()).isNull();
            assertThat(key.calls()).hasSize(1);
        });
    }

    private static @Nullable Integer limit(Answering permits) {
        return reader(permits, Duration.ofSeconds(30))
                .all("", List.of())
                .permits()
                .get(0)
                .limit();
    }

    /** With more keys than a slow store answers in time, its pauses are known at least of the names whose keys are. */
    @Test
    void pausesOfANameAreReadBeforeItsKeys() {
        Answering permits = new Answering(50, 1, 1, 1);
        permits.pauses = List.of(Pause.ofName("tenant"));
        reader(permits, Duration.ofSeconds(30)).all("", List.of());
        assertThat(permits.inOrder).startsWith(Pause.ofName("tenant"));
        permits.inOrder.clear();
        reader(permits, Duration.ofSeconds(30)).detail(DEFINITION, ALL);
        assertThat(permits.inOrder).startsWith(Pause.ofName("tenant"));
    }

    @Test
    void rowsOfAllKeysTogetherAreBounded() {
        Answering permits = new Answering(20, 1, 400, 400);
        Detail detail = reader(permits, Duration.ofSeconds(30)).detail(DEFINITION, new Query(null, 20, 500, 0));
        assertThat(detail.keys()).hasSize(20);
        assertThat(detail.keys().stream().mapToInt(key -> key.members().size()).sum())
                .isEqualTo(PermitsReader.MOST_ROWS);
        assertThat(detail.keys().stream().mapToInt(key -> key.calls().size()).sum())
                .isEqualTo(PermitsReader.MOST_ROWS);
        Key first = detail.keys().get(0);
        assertThat(first.membersTruncated() || first.callsTruncated()).isFalse();
        Key last = detail.keys().get(19);
        assertThat(last.membersTruncated() && last.callsTruncated()).isTrue();
    }

    /** The store has the limit of this instance only while its calls hold permits or wait. */
    @Test
    void limitsDifferAsSoonAsAnotherMemberStatesAnotherLimitThanThisInstance() {
        Answering permits = new Answering(0, 1, 1, 0);
        PermitDefinition.Builder declared =
                PermitDefinition.named("tenant", "Test").key("tenant");
        permits.definition = declared.limit(1).build();
        assertThat(limitsDiffer(permits)).isFalse();
        permits.definition = declared.limit(2).build();
        assertThat(limitsDiffer(permits)).isTrue();
        assertThat(reader(permits, Duration.ofSeconds(30))
                        .detail(permits.definition, ALL)
                        .keys()
                        .get(0)
                        .statedLimits())
                .containsExactly(entry(1, 1), entry(2, 1));
    }

    private static boolean limitsDiffer(Answering permits) {
        PermitsView view = reader(permits, Duration.ofSeconds(30)).all("", List.of());
        return Objects.requireNonNull(view.permits().get(0).fleet()).limitsDiffer();
    }

    /** Not the calls of this instance over all keys beside those of others over a part of them. */
    @Test
    void waitingCallsAreThoseOfTheKeysThatWereRead() {
        Answering few = new Answering(50, 1, 2, 1);
        assertThat(waiting(few))
                .as("as they are now here, and as the store has those of the other one")
                .isEqualTo(500 + 50);
        Answering many = new Answering(500, 1, 2, 1);
        assertThat(waiting(many)).isEqualTo(2 * PermitsReader.MOST_KEYS);
    }

    private static int waiting(Answering permits) {
        permits.waitingHere = 500;
        PermitsView view = reader(permits, Duration.ofSeconds(30)).all("", List.of());
        return Objects.requireNonNull(view.permits().get(0).fleet()).waiting();
    }

    private static PermitsReader reader(PermitAccess permits, Duration timeout) {
        return new PermitsReader(
                permits, new StoreAnswers(timeout), null, new PermitHistory(System::nanoTime), Clock.systemUTC());
    }

    /** Answers after a while, and counts the inspections. */
    private static final class Answering implements PermitAccess {

        final AtomicInteger asked = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();
        /** Over all keys. */
        int waitingHere;
        /** The keys that begin so cannot be read. */
        @Nullable
        String failing;

        PermitDefinition definition = DEFINITION;
        List<String> pauses = List.of();
        final List<String> inOrder = new ArrayList<>();

        private final AtomicInteger underWay = new AtomicInteger();
        private final List<String> keys;
        private final long millis;
        private final int members;
        private final int calls;

        Answering(int keys, long millis, int members, int calls) {
            this.keys = IntStream.range(0, keys).mapToObj(i -> "key-" + i).toList();
            this.millis = millis;
            this.members = members;
            this.calls = calls;
        }

        @Override
        public CompletionStage<KeyState> inspect(String key) {
            asked.incrementAndGet();
            inOrder.add(key);
            if (failing != null && key.startsWith(failing)) {
                return CompletableFuture.failedFuture(PermitStoreException.passing("away", null));
            }
            most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
            return CompletableFuture.supplyAsync(
                    () -> {
                        underWay.decrementAndGet();
                        return state(key);
                    },
                    CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
        }

        private KeyState state(String key) {
            List<MemberState> all = new ArrayList<>();
            for (int i = 0; i < members; i++) {
                String id = i == 0 && waitingHere > 0 ? "self" : "m" + i;
                all.add(new MemberState(id, 1, 1, 1, waitingHere > 0, waitingHere > 0 ? 1 : 0));
            }
            return new KeyState(key, members, OverrideLimit.empty(), all);
        }

        @Override
        public List<CallView> calls(String key, int limit) {
            CallView call = new CallView(
                    "tenant", key, 1, CallView.State.HOLDING, Duration.ZERO, Optional.empty(), CallView.Place.UNKNOWN);
            return IntStream.range(0, Math.min(limit, calls))
                    .mapToObj(i -> call)
                    .toList();
        }

        @Override
        public List<String> keysInUse(String name) {
            return keys;
        }

        @Override
        public int take(String key, long call) {
            return 0;
        }

        @Override
        public Member member() {
            return new Member("self", "self");
        }

        @Override
        public StoreGauges status() {
            return new StoreGauges() {
                @Override
                public String backend() {
                    return "test";
                }

                @Override
                public String address() {
                    return "";
                }

                @Override
                public boolean isAnswering() {
                    return true;
                }

                @Override
                public Optional<Duration> sinceAnswer() {
                    return Optional.empty();
                }

                @Override
                public int unanswered() {
                    return 0;
                }

                @Override
                public int keys() {
                    return 0;
                }

                @Override
                public long lost() {
                    return 0;
                }
            };
        }

        @Override
        public Collection<PermitDefinition> definitions() {
            return List.of(definition);
        }

        @Override
        public boolean isLimitFromSettings(String name) {
            return false;
        }

        @Override
        public Optional<PermitGauges> gauges(String name) {
            return Optional.of(new PermitGauges() {
                @Override
                public String name() {
                    return name;
                }

                @Override
                public int holders() {
                    return 0;
                }

                @Override
                public int waiters() {
                    return waitingHere;
                }

                @Override
                public int limit() {
                    return 1;
                }
            });
        }

        @Override
        public CompletionStage<Void> override(String key, OverrideLimit limit, Duration lasts) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Optional<PermitDefinition> find(String name) {
            return Optional.empty();
        }

        @Override
        public Optional<String> application() {
            return Optional.empty();
        }

        @Override
        public List<String> pauses(String name) {
            return pauses;
        }

        @Override
        public CompletionStage<Void> pause(String pause, OverrideLimit limit, Duration lasts) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<KeyList> keysInStore(int most) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Integer> evict(String key, String member) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Void> drain() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void forEachKey(BiConsumer<String, String> consumer) {
            throw new UnsupportedOperationException();
        }
    }
}
