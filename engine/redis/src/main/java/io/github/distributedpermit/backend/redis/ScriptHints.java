package io.github.distributedpermit.backend.redis;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Has a native image contain the scripts. {@code aot.factories} names it, so that Spring calls it when the image is
 * built. It is not used at run time.
 */
final class ScriptHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern(ScriptHints.class.getPackageName().replace('.', '/') + "/*.lua");
    }
}
