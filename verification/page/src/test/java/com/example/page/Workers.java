package com.example.page;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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
        calls.forEach(call -> call.cancel(false));
        end(Integer.MAX_VALUE);
    }
}
