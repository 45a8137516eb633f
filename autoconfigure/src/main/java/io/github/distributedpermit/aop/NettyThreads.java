package io.github.distributedpermit.aop;

import io.netty.util.concurrent.FastThreadLocalThread;

/** Loaded only for a thread of Netty's own class. */
final class NettyThreads {

    private NettyThreads() {}

    static boolean mustNotBlock(Thread thread) {
        return thread instanceof FastThreadLocalThread netty && !netty.permitBlockingCalls();
    }
}
