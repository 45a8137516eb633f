package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.isFree;
import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.aop.async.LimitedCall;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.FilteredClassLoader;

/** What an application does not use need not be on its class path. */
class OptionalLibrariesTest {

    /** Defines the library's own classes anew, so that they see the optional libraries only through the filter. */
    private static final class Isolated extends FilteredClassLoader {

        Isolated() {
            super(
                    "org.aspectj",
                    "reactor",
                    "org.reactivestreams",
                    "io.reactivex",
                    "io.smallrye",
                    "io.netty",
                    "io.micrometer.context",
                    "org.springframework.web",
                    "org.springframework.http");
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("io.github.distributedpermit.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] code = in.readAllBytes();
                return defineClass(name, code, 0, code.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    @Test
    void synchronousAndFutureMethodsNeedNoneOfThem() throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (Isolated isolated = new Isolated()) {
            Thread.currentThread().setContextClassLoader(isolated);
            Method run = isolated.loadClass(Application.class.getName()).getMethod("run");
            assertThat(run.invoke(null)).isEqualTo(List.of("sync", "future", true));
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    /** Runs within the isolated class loader. */
    public static final class Application {

        private Application() {}

        /** Starts an application and calls its methods. */
        public static List<Object> run() {
            AtomicReference<List<Object>> results = new AtomicReference<>(List.of());
            local().withBean(Service.class)
                    .withClassLoader(Application.class.getClassLoader())
                    .run(context -> {
                        Service service = context.getBean(Service.class);
                        assertThat(LimitedCall.class.getClassLoader()).isInstanceOf(FilteredClassLoader.class);
                        assertThat(context.getBean(Permits.class)).isNotNull();
                        results.set(List.of(service.sync(), service.future().join(), isFree(context, "one")));
                    });
            return Objects.requireNonNull(results.get());
        }
    }

    /** Limited methods. */
    public static class Service {

        /** Waits on its thread. */
        @DistributedPermit(key = "one", limit = 1)
        public String sync() {
            return "sync";
        }

        /** Waits without one. */
        @DistributedPermit(key = "one", limit = 1)
        public CompletableFuture<String> future() {
            return CompletableFuture.completedFuture("future");
        }
    }
}
