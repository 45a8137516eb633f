package com.example

import io.github.distributedpermit.PermitRejectedException
import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.delay
import org.springframework.stereotype.Component

/** Writes down what runs. */
@Component
class Work {

    val ran = CopyOnWriteArrayList<String>()

    suspend fun run(name: String, end: CompletableDeferred<String>): String {
        ran.add(name)
        return end.await()
    }

    suspend fun answer(id: Int, why: PermitRejectedException?): Int {
        delay(1)
        return if (why == null) id else -id
    }
}
