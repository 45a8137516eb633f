package io.github.distributedpermit.ui;

import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A store in memory that does not answer while {@code silent} is set. */
final class SilentBackend implements PermitBackend {

    private final LocalPermitBackend local = new LocalPermitBackend();
    volatile boolean silent;

    @Override
    public String name() {
        return "silent";
    }

    @Override
    public String address() {
        return "store.example:4711";
    }

    @Override
    public PermitStore join(Member member, HoldingListener listener) {
        PermitStore store = local.join(member, listener);
        return (PermitStore) Proxy.newProxyInstance(
                PermitStore.class.getClassLoader(), new Class<?>[] {PermitStore.class}, (proxy, method, arguments) -> {
                    if (silent && method.getReturnType() == CompletionStage.class) {
                        return new CompletableFuture<>();
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
