package com.example.endpoint;

import io.github.distributedpermit.DistributedPermit;
import java.util.concurrent.CompletableFuture;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/** An application with one limited method, outside of the library's packages. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class Exports {

    private final CompletableFuture<String> end = new CompletableFuture<>();
    private final ObjectProvider<Exports> self;

    /** Calls itself through its proxy. */
    public Exports(ObjectProvider<Exports> self) {
        this.self = self;
    }

    /** Holds its permit until {@link #end}. */
    @DistributedPermit(key = "report-export", limit = 1)
    public CompletableFuture<String> hold() {
        return end;
    }

    /** Waits for a permit. */
    @DistributedPermit(key = "report-export", limit = 1)
    public String export() {
        return "done";
    }

    /** Why a call gets no permit. */
    public String rejection() {
        try {
            return self.getObject().export();
        } catch (RuntimeException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** Ends {@link #hold}. */
    public void end() {
        end.complete("held");
    }
}
