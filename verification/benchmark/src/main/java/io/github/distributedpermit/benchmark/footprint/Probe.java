package io.github.distributedpermit.benchmark.footprint;

import io.github.distributedpermit.benchmark.load.LiveHeap;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Starts one of the applications in its own JVM, uses it once, and prints one line with what it took, as
 * {@link Footprint#parse} reads it. Ends when its input ends, so it does not outlive the run.
 */
final class Probe {

    private Probe() {}

    static void run(Class<?> application, String[] settings) throws IOException {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(application)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off", "spring.application.name=footprint")
                .run(settings);
        // the connection is opened by the first command, which any application that uses Redis sends sooner or later
        context.getBean(StringRedisTemplate.class).hasKey("footprint");
        long ready = System.nanoTime();
        context.getBean(Work.class).call();
        long firstCall = System.nanoTime() - ready;
        int classes = ManagementFactory.getClassLoadingMXBean().getLoadedClassCount();
        long heap = LiveHeap.bytes();
        int threads = Thread.getAllStackTraces().size();
        PrintStream out = System.out;
        out.println(Footprint.line(ready, firstCall, classes, heap, threads));
        while (System.in.read() >= 0) {
            // the benchmark counts the connections before it closes this input
        }
        Runtime.getRuntime().halt(0);
    }
}
