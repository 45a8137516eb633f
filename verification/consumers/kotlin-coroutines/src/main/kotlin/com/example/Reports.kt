package com.example

import io.github.distributedpermit.DistributedPermit
import io.github.distributedpermit.OnReject
import io.github.distributedpermit.PermitRejectedException
import io.github.distributedpermit.Permits
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOf
import org.springframework.stereotype.Service

@Service
class Reports(private val work: Work, private val pages: Pages) {

    @DistributedPermit(key = "report-#{#tenant}", name = "report", limit = 1)
    suspend fun export(tenant: String, work: CompletableDeferred<String>): String = this.work.run(tenant, work)

    @DistributedPermit(
        key = "tenant-#{#tenant}",
        name = "tenant",
        limitString = "#{#most}",
        permits = 2,
        within = "all-tenants",
        headStart = "#{30}s",
        fairBy = "#{#tenant}",
        fairWeight = "#{3}",
    )
    suspend fun ofTenant(tenant: String, most: Int, work: CompletableDeferred<String>): String = this.work.run(tenant, work)

    @DistributedPermit(key = "all-tenants", limit = 20)
    suspend fun ofAllTenants(): Int = 1

    @DistributedPermit(key = "rejected", limit = 1, block = false)
    suspend fun rejected(work: CompletableDeferred<Int>): Int = work.await()

    @DistributedPermit(key = "rejected", limit = 1, block = false, fallback = "suspended")
    suspend fun answeredBySuspending(id: Int): Int = id

    suspend fun suspended(id: Int, why: PermitRejectedException): Int = work.answer(id, why)

    @DistributedPermit(key = "rejected", limit = 1, block = false, fallback = "plain")
    suspend fun answeredByPlain(id: Int): Int = id

    fun plain(id: Int, why: PermitRejectedException): Int = -2 * id

    @DistributedPermit(key = "rejected", limit = 1, block = false, fallback = "pages::cached")
    suspend fun answeredByBean(id: Int): Int = id

    @DistributedPermit(key = "rejected", limit = 1, block = false, onReject = OnReject.SKIP)
    suspend fun skipped(): Int? = 1

    @DistributedPermit(key = "rejected", limit = 1, block = false, onReject = OnReject.SKIP)
    suspend fun skippedWork() {
        work.ran.add("skipped")
    }

    @DistributedPermit(key = "failing", limit = 1)
    suspend fun failing(): String {
        work.answer(1, null)
        throw IllegalArgumentException("of the function")
    }

    @DistributedPermit(key = "rows", limit = 1)
    fun rows(second: CompletableDeferred<Int>): Flow<Int> = rowsOf(1, second)

    @DistributedPermit(key = "rows", limit = 1)
    suspend fun rowsLater(second: CompletableDeferred<Int>): Flow<Int> = rowsOf(work.answer(1, null), second)

    private fun rowsOf(first: Int, second: CompletableDeferred<Int>): Flow<Int> = flow {
        emit(first)
        emit(second.await())
    }

    @DistributedPermit(key = "rejected", limit = 1, block = false, fallback = "noRows")
    suspend fun rowsOrNone(): Flow<Int> = flowOf(1)

    fun noRows(): Flow<Int> = flowOf(0)

    @DistributedPermit(key = "shared", name = "shared", limit = 1)
    suspend fun outer(): String = "outer of " + pages.inner()

    @DistributedPermit(key = "deferred", limit = 1)
    fun deferred(work: CompletableDeferred<String>): Deferred<String> = work

    @DistributedPermit(key = "current", limit = 1)
    suspend fun hasCurrentPermit(): Boolean = Permits.current().isPresent
}
