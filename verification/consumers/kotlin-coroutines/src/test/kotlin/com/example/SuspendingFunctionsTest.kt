package com.example

import io.github.distributedpermit.PermitRejectedException
import io.github.distributedpermit.Permits
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.test.context.SpringBootTest

@SpringBootTest(properties = ["distributed-permit.backend=local"])
@Timeout(60)
class SuspendingFunctionsTest {

    @Autowired
    private lateinit var reports: Reports

    @Autowired
    private lateinit var permits: Permits

    @Autowired
    private lateinit var work: Work

    @BeforeEach
    fun clear() = work.ran.clear()

    @Test
    fun permitIsHeldUntilTheFunctionReturns() = onOneThread {
        val end = CompletableDeferred<String>()
        val running = async { reports.export("acme", end) }
        awaitWork("acme")
        assertThat(state("report-acme").inUse()).isEqualTo(1)
        assertThat(state("report-other").inUse()).isZero()
        end.complete("done")
        assertThat(running.await()).isEqualTo("done")
        assertFree("report-acme")
    }

    @Test
    fun limitsOfTenantsAndOfTheCallApply() = onOneThread {
        val end = CompletableDeferred<String>()
        val running = async { reports.ofTenant("acme", 5, end) }
        awaitWork("acme")
        val tenant = permits.named("tenant").state("tenant-acme")
        assertThat(tenant.inUse()).isEqualTo(2)
        assertThat(tenant.limit()).isEqualTo(5)
        assertThat(permits.state("all-tenants").inUse()).isEqualTo(2)
        end.complete("done")
        assertThat(running.await()).isEqualTo("done")
        assertFree("all-tenants")
    }

    /** All of it on one thread: a call that blocked while it waits would keep the other from ending. */
    @Test
    fun callerIsSuspendedWhileItWaits() = onOneThread {
        val first = CompletableDeferred<String>()
        val second = CompletableDeferred("second")
        val running = async { reports.export("acme", first) }
        awaitWork("acme")
        val waiting = async { reports.export("acme", second) }
        awaitWaiting("report-acme", 1)
        assertThat(work.ran).containsExactly("acme")
        first.complete("first")
        assertThat(listOf(running.await(), waiting.await())).containsExactly("first", "second")
        assertFree("report-acme")
    }

    @Test
    fun cancellationWhileItWaitsLeavesTheQueue() = onOneThread {
        val first = CompletableDeferred<String>()
        val running = async { reports.export("acme", first) }
        awaitWork("acme")
        val waiting = async { reports.export("acme", CompletableDeferred("second")) }
        awaitWaiting("report-acme", 1)
        waiting.cancelAndJoin()
        awaitWaiting("report-acme", 0)
        first.complete("first")
        running.await()
        assertThat(work.ran).containsExactly("acme")
        assertFree("report-acme")
    }

    @Test
    fun cancellationWhileItRunsReleasesThePermit() = onOneThread {
        val end = CompletableDeferred<String>()
        val running = async { reports.export("acme", end) }
        awaitWork("acme")
        running.cancelAndJoin()
        assertThat(running.isCancelled).isTrue()
        assertFree("report-acme")
    }

    @Test
    fun errorOfTheFunctionReachesItsCallerAndReleasesThePermit() = onOneThread {
        val failure = runCatching { reports.failing() }.exceptionOrNull()
        assertThat(failure).isInstanceOf(IllegalArgumentException::class.java).hasMessage("of the function")
        assertFree("failing")
    }

    @Test
    fun rejectionIsThrownAnsweredOrSkipped() = onOneThread {
        val end = CompletableDeferred<Int>()
        val running = async { reports.rejected(end) }
        awaitUse("rejected", 1)
        val failure = runCatching { reports.rejected(end) }.exceptionOrNull()
        assertThat(failure).isInstanceOf(PermitRejectedException::class.java)
        assertThat(reports.answeredBySuspending(5)).isEqualTo(-5)
        assertThat(reports.answeredByPlain(5)).isEqualTo(-10)
        assertThat(reports.answeredByBean(5)).isEqualTo(-15)
        assertThat(reports.skipped()).isNull()
        reports.skippedWork()
        assertThat(work.ran).isEmpty()
        assertThat(reports.rowsOrNone().toList()).containsExactly(0)
        end.complete(7)
        assertThat(running.await()).isEqualTo(7)
        assertThat(reports.answeredBySuspending(5)).isEqualTo(5)
        assertThat(reports.skipped()).isEqualTo(1)
        reports.skippedWork()
        assertThat(work.ran).containsExactly("skipped")
        assertFree("rejected")
    }

    @Test
    fun flowHoldsThePermitUntilItCompletesOrIsCancelled() = onOneThread {
        for (suspending in listOf(false, true)) {
            val second = CompletableDeferred<Int>()
            val rows = if (suspending) reports.rowsLater(second) else reports.rows(second)
            assertFree("rows")
            assertThat(rows.first()).isEqualTo(1)
            assertFree("rows")
            val used = mutableListOf<Int>()
            rows.collect {
                used.add(state("rows").inUse())
                second.complete(2)
            }
            assertThat(used).hasSize(2).startsWith(1)
            assertFree("rows")
        }
    }

    @Test
    fun nestedCallJoinsThePermitOfItsCaller() = onOneThread {
        assertThat(reports.outer()).isEqualTo("outer of inner")
        assertFree("shared")
    }

    @Test
    fun permitIsBoundToNoThread() = onOneThread {
        assertThat(reports.hasCurrentPermit()).isFalse()
    }

    @Test
    fun deferredHoldsThePermitUntilItHasEnded() = onOneThread {
        val end = CompletableDeferred<String>()
        val result: Deferred<String> = reports.deferred(end)
        awaitUse("deferred", 1)
        end.complete("done")
        assertThat(result.await()).isEqualTo("done")
        assertFree("deferred")
    }

    private fun state(key: String) =
        if (key.startsWith("report-")) permits.named("report").state(key) else permits.state(key)

    private suspend fun awaitWork(name: String) = awaitThat { work.ran.contains(name) }

    private suspend fun awaitUse(key: String, count: Int) = awaitThat { state(key).inUse() == count }

    private suspend fun awaitWaiting(key: String, count: Int) = awaitThat { state(key).waiting() == count }

    /** Without blocking the only thread of the test's coroutines. */
    private suspend fun awaitThat(condition: () -> Boolean) = withTimeout(20_000) {
        while (!condition()) {
            delay(5)
        }
    }

    private suspend fun assertFree(key: String) = awaitUse(key, 0)

    private fun onOneThread(test: suspend CoroutineScope.() -> Unit) {
        val executor = Executors.newSingleThreadExecutor()
        try {
            runBlocking(executor.asCoroutineDispatcher(), test)
        } finally {
            executor.shutdown()
            assertThat(executor.awaitTermination(10, TimeUnit.SECONDS)).isTrue()
        }
    }
}
