package io.github.distributedpermit.backend.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** Calls a hook with the text of each prepared statement before it is executed. */
final class Intercepted {

    private Intercepted() {}

    static DataSource of(DataSource source, Consumer<String> hook) {
        return proxy(DataSource.class, source, "", hook);
    }

    static Connection of(Connection connection, Consumer<String> hook) {
        return proxy(Connection.class, connection, "", hook);
    }

    private static <T> T proxy(Class<T> type, T target, String sql, Consumer<String> hook) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, values) -> {
                    if (target instanceof PreparedStatement && method.getName().startsWith("execute")) {
                        hook.accept(sql);
                    }
                    Object answer;
                    try {
                        answer = method.invoke(target, values);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                    if (method.getReturnType() == Connection.class) {
                        return proxy(Connection.class, (Connection) answer, "", hook);
                    }
                    return method.getReturnType() == PreparedStatement.class
                            ? proxy(PreparedStatement.class, (PreparedStatement) answer, (String) values[0], hook)
                            : answer;
                }));
    }
}
