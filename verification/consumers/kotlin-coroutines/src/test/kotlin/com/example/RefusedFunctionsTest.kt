package com.example

import io.github.distributedpermit.DistributedPermit
import io.github.distributedpermit.OnReject
import io.github.distributedpermit.PermitRejectedException
import java.util.function.Supplier
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.test.context.runner.ApplicationContextRunner
import reactor.core.publisher.Mono

class RefusedFunctionsTest {

    open class ReturnsDeferred {

        @DistributedPermit(key = "x", limit = 1)
        open suspend fun late(): Deferred<Int> = CompletableDeferred(1)
    }

    open class ReturnsFlowOfMonos {

        @DistributedPermit(key = "x", limit = 1)
        open suspend fun late(): Flow<Mono<Int>> = flowOf()
    }

    open class SkipsValue {

        @DistributedPermit(key = "x", limit = 1, block = false, onReject = OnReject.SKIP)
        open suspend fun value(): String = "value"
    }

    open class FallbackOfAnotherType {

        @DistributedPermit(key = "x", limit = 1, fallback = "other")
        open suspend fun value(id: Long): String = "value"

        open suspend fun other(id: Long, why: PermitRejectedException): Int = 1
    }

    open class UnknownParameter {

        @DistributedPermit(key = "x-#{#other}", limit = 1)
        open suspend fun value(id: Long): String = "value"
    }

    @Test
    fun whatCannotWorkStopsTheStartWithAMessage() {
        assertRefused(ReturnsDeferred::class.java, "suspends and returns Deferred")
        assertRefused(ReturnsFlowOfMonos::class.java, "ends later than what is around it")
        assertRefused(SkipsValue::class.java, "cannot be skipped")
        assertRefused(FallbackOfAnotherType::class.java, "Add a method 'String other(long)'")
        assertRefused(UnknownParameter::class.java, "Known are #id, #p0, #a0, #root")
    }

    private fun <T : Any> assertRefused(type: Class<T>, message: String) {
        ApplicationContextRunner()
            .withConfiguration(
                AutoConfigurations.of(
                    Class.forName("io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration")))
            .withPropertyValues("distributed-permit.backend=local")
            .withBean(type, Supplier { type.getDeclaredConstructor().newInstance() })
            .run { context ->
                assertThat(context).hasFailed()
                val root = generateSequence(context.startupFailure as Throwable) { it.cause }.last()
                assertThat(root).hasMessageContaining(message)
            }
    }
}
