package io.github.distributedpermit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a group does when the return of one of its permits fails. */
class PermitGroupTest {

    private final List<String> returned = new ArrayList<>();

    /** @param error thrown when it is returned, as by an error while the return is reported; {@code null} for none */
    private Permit permit(String key, @Nullable Error error) {
        return new Permit() {

            @Override
            public String name() {
                return key;
            }

            @Override
            public String key() {
                return key;
            }

            @Override
            public int permits() {
                return 1;
            }

            @Override
            public PermitToken token() {
                return new PermitToken(1, 1);
            }

            @Override
            public boolean isHeld() {
                return !returned.contains(key);
            }

            @Override
            public void onLoss(Runnable listener) {
                // it is not lost
            }

            @Override
            public boolean release() {
                returned.add(key);
                if (error != null) {
                    throw error;
                }
                return true;
            }
        };
    }

    @Test
    void errorAtTheReturnOfOnePermitKeepsNoOtherInUse() {
        Error error = new OutOfMemoryError("no room to report the return");
        PermitGroup group =
                new PermitGroup(List.of(permit("a", null), permit("b", new StackOverflowError()), permit("c", error)));

        assertThatExceptionOfType(OutOfMemoryError.class)
                .isThrownBy(group::release)
                .isSameAs(error);

        assertThat(returned).containsExactly("c", "b", "a");
    }
}
