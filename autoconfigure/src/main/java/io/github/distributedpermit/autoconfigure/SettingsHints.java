package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.Limit;
import io.github.distributedpermit.core.PermitSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.boot.context.properties.bind.BindableRuntimeHintsRegistrar;

/** Has a native image contain the settings of single permits, which Boot finds neither in a map nor in another package. */
final class SettingsHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        BindableRuntimeHintsRegistrar.forTypes(PermitSettings.class).registerHints(hints);
        // made of the text of a property by its static method
        hints.reflection().registerType(Limit.class, MemberCategory.INVOKE_PUBLIC_METHODS);
    }
}
