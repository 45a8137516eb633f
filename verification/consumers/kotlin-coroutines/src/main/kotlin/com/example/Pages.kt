package com.example

import io.github.distributedpermit.DistributedPermit
import kotlinx.coroutines.delay
import org.springframework.stereotype.Service

@Service
class Pages {

    suspend fun cached(id: Int): Int {
        delay(1)
        return -3 * id
    }

    @DistributedPermit(key = "shared", name = "shared", limit = 1, timeout = "1s", reentrant = true)
    suspend fun inner(): String {
        delay(1)
        return "inner"
    }
}
