package io.github.distributedpermit.ui;

import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** A store in memory that does not answer while {@code silent} is set, answers late, or loses all its data. */
final class SilentBackend implements PermitBackend {

    private final List<Joined> members = new CopyOnWriteArrayList<>();
    private volatile LocalPermitBackend local = new LocalPermitBackend();
    volatile boolean silent;
    volatile long lateMillis;

    private record Joined(Member member, HoldingListener listener, AtomicReference<PermitStore> store) {}

    @Override
    public String name() {
        return "silent";
    }

    @Override
    public String address() {
        return "store.example:4711";
    }

    /** The store is restarted empty. */
    void loseAll() {
        local = new LocalPermitBackend();
        members.forEach(each -> each.store().set(local.join(each.member(), each.listener())));
    }

    @Override
    public PermitStore join(Member member, HoldingListener listener) {
        AtomicReference<PermitStore> store = new AtomicReference<>(local.join(member, listener));
        members.add(new Joined(member, listener, store));
        return (PermitStore) Proxy.newProxyInstance(
                PermitStore.class.getClassLoader(), new Class<?>[] {PermitStore.class}, (proxy, method, arguments) -> {
                    boolean asked = method.getReturnType() == CompletionStage.class;
                    if (silent && asked) {
                        return new CompletableFuture<>();
                    }
                    try {
                        Object answer = method.invoke(store.get(), arguments);
                        return asked && lateMillis > 0 ? late((CompletionStage<?>) answer) : answer;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private CompletionStage<?> late(CompletionStage<?> answer) {
        return answer.thenApplyAsync(
                value -> value, CompletableFuture.delayedExecutor(lateMillis, TimeUnit.MILLISECONDS));
    }
}
