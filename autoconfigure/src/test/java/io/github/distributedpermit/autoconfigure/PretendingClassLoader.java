package io.github.distributedpermit.autoconfigure;

import java.util.Set;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.Opcodes;

/** Has classes of these names, empty, so that libraries that are not there seem to be. */
final class PretendingClassLoader extends ClassLoader {

    private final Set<String> names;

    PretendingClassLoader(ClassLoader parent, String... names) {
        super(parent);
        this.names = Set.of(names);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!names.contains(name)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name);
        }
    }

    private Class<?> define(String name) {
        ClassWriter writer = new ClassWriter(0);
        writer.visit(Opcodes.V17, Opcodes.ACC_PUBLIC, name.replace('.', '/'), null, "java/lang/Object", null);
        writer.visitEnd();
        byte[] code = writer.toByteArray();
        return defineClass(name, code, 0, code.length);
    }
}
