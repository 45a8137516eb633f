package com.example

import io.github.distributedpermit.DistributedPermit
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.test.context.runner.ApplicationContextRunner

/** Runs without kotlinx-coroutines-reactor, see the pom. */
class WithoutReactorTest {

    open class Limited {

        @DistributedPermit(key = "limited-#{#id}", name = "limited", limit = 1)
        open suspend fun limited(id: Int): Int = id
    }

    @Test
    fun suspendingFunctionStopsTheStartAndTheMessageSaysWhatIsMissing() {
        ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(autoConfiguration))
            .withPropertyValues("distributed-permit.backend=local")
            .withBean(Limited::class.java)
            .run { context ->
                assertThat(context).hasFailed()
                val root = generateSequence(context.startupFailure as Throwable) { it.cause }.last()
                assertThat(root)
                    .hasMessageContaining("is a suspending function")
                    .hasMessageContaining("kotlinx-coroutines-reactor")
            }
    }

    private val autoConfiguration =
        Class.forName("io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration")
}
