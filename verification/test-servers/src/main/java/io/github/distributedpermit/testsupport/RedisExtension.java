package io.github.distributedpermit.testsupport;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives a {@link RedisServer} to whoever asks for one by parameter: one server for all classes of a test run, started
 * with the first. A test that stops or reconfigures its server starts one of its own.
 */
public final class RedisExtension implements ParameterResolver {

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == RedisServer.class;
    }

    @Override
    public RedisServer resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return context.getRoot()
                .getStore(Namespace.create(RedisExtension.class))
                .computeIfAbsent(RedisServer.class, type -> RedisServer.started(), RedisServer.class);
    }
}
