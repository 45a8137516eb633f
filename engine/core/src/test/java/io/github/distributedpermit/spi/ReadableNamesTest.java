package io.github.distributedpermit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.KeyState.MemberState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class ReadableNamesTest {

    private final List<String> asked = new ArrayList<>();
    private final CompletableFuture<Optional<String>> answer = new CompletableFuture<>();
    private final ReadableNames names = new ReadableNames(this::read);

    private CompletionStage<Optional<String>> read(String member) {
        asked.add(member);
        return answer;
    }

    @Test
    void inspectionsAtTheSameTimeShareOneReading() {
        CompletionStage<KeyState> one = addTo(names);
        CompletionStage<KeyState> other = addTo(names);

        answer.complete(Optional.of("pod-7"));

        assertThat(asked).containsExactly("a");
        assertThat(nameIn(one)).contains("pod-7");
        assertThat(nameIn(other)).contains("pod-7");
        assertThat(nameIn(addTo(names))).contains("pod-7");
        assertThat(asked).as("a name is read once").hasSize(1);
    }

    @Test
    void nameThatDoesNotArriveIsLeftOutAndKeptWhenItDoes() {
        assertThat(nameIn(addTo(names))).isEmpty();

        answer.complete(Optional.of("late"));

        assertThat(nameIn(addTo(names))).contains("late");
        assertThat(asked).hasSize(1);
    }

    @Test
    void readerThatThrowsOrFailsIsAskedAgain() {
        List<CompletionStage<Optional<String>>> answers = new ArrayList<>();
        ReadableNames unlucky = new ReadableNames(member -> answers.remove(0)); // throws while the list is empty

        assertThat(nameIn(addTo(unlucky))).isEmpty();
        answers.add(CompletableFuture.failedFuture(new IllegalStateException("no right")));
        assertThat(nameIn(addTo(unlucky))).isEmpty();
        answers.add(CompletableFuture.completedFuture(Optional.of("pod-7")));
        assertThat(nameIn(addTo(unlucky))).contains("pod-7");
    }

    @Test
    void operatorsSeeTheIdOfTheProcess() {
        answer.complete(Optional.of("pod-7"));

        KeyState named = names.addTo(state(), id -> "process of " + id)
                .toCompletableFuture()
                .join();

        assertThat(named.members()).extracting(MemberState::member).containsExactly("process of a");
    }

    private static CompletionStage<KeyState> addTo(ReadableNames names) {
        return names.addTo(state(), UnaryOperator.identity());
    }

    private static Optional<String> nameIn(CompletionStage<KeyState> state) {
        return state.toCompletableFuture().join().members().get(0).name();
    }

    private static KeyState state() {
        return new KeyState("k", 1, OverrideLimit.empty(), List.of(new MemberState("a", 1, 1, 1, false, 0)));
    }
}
