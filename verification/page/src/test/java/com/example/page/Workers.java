package com.example.page;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/** An application whose calls hold their permits until the test ends them. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class Workers implements DisposableBean {

    private final Permits permits;
    private final List<Permit> held = new ArrayList<>();
    private final List<CompletableFuture<Permit>> calls = new ArrayList<>();
    private final CountDownLatch end = new CountDownLatch(1);

    /** Uses these permits. */
    public Workers(Permits permits) {
        this.permits = permits;
    }

    /** Makes so many calls. */
    public void work(int count) {
        for (int i = 0; i < count; i++) {
            hold("report-export", "report-export");
        }
    }

    /** Makes one call. */
    public void hold(String name, String key) {
        CompletableFuture<Permit> call =
                permits.named(name).acquireAsync(permits.named(name).request(key));
        calls.add(call);
        call.thenAccept(permit -> {
            synchronized (held) {
                held.add(permit);
            }
        });
    }

    /** Makes one call that works on a thread of its own until the test ends. */
    public void workOnThread(String name) {
        Thread thread = new Thread(() -> permits.run(name, this::awaitEnd), "worker");
        thread.setDaemon(true);
        thread.start();
    }

    private void awaitEnd() {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** How many calls hold a permit. */
    public int holding() {
        synchronized (held) {
            return held.size();
        }
    }

    /** How many calls have no permit yet. */
    public int waiting() {
        return (int) calls.stream().filter(call -> !call.isDone()).count();
    }

    /** Ends the oldest calls. */
    public void end(int count) {
        List<Permit> ending;
        synchronized (held) {
            ending = List.copyOf(held.subList(0, Math.min(count, held.size())));
            held.removeAll(ending);
        }
        ending.forEach(Permit::release);
    }

    @Override
    public void destroy() {
        end.countDown();
        calls.forEach(call -> call.cancel(false));
        end(Integer.MAX_VALUE);
    }
}
