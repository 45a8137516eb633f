package io.github.distributedpermit.aop;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.util.ClassUtils;

/**
 * Finds calls of limited methods through {@code this} in the byte code of a bean's class, in methods that are not limited
 * themselves. It counts a call only if its method can get an object of the class from nowhere else, such as a field with
 * the proxy; so it finds most such calls and reports no other. A class without a class file is not looked at.
 */
final class SelfCalls {

    private static final Log log = LogFactory.getLog(SelfCalls.class);

    private SelfCalls() {}

    /** The names of the calling methods, by the limited method that they call; empty if there are none. */
    static Map<Method, Set<String>> of(Class<?> type, Set<Method> limited) {
        Map<Method, Set<String>> callers =
                new TreeMap<>((one, other) -> DeclaredPermit.signature(one).compareTo(DeclaredPermit.signature(other)));
        if (type.isInterface() || limited.isEmpty()) {
            return callers;
        }
        try (InputStream in = type.getResourceAsStream(ClassUtils.getClassFileName(type))) {
            if (in != null) {
                new ClassReader(in)
                        .accept(new Calls(type, limited, callers), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
            }
        } catch (IOException | RuntimeException e) {
            // such as a class file of a version that Spring cannot read
            log.debug("Calls through 'this' in " + type.getName() + " are not looked for", e);
        }
        return callers;
    }

    private static final class Calls extends ClassVisitor {

        private final String owner;
        private final Map<String, Method> limited;
        private final Set<String> limitedNames;
        private final Map<Method, Set<String>> callers;

        Calls(Class<?> type, Set<Method> limited, Map<Method, Set<String>> callers) {
            super(SpringAsmInfo.ASM_VERSION);
            this.owner = Type.getInternalName(type);
            this.limited = limited.stream()
                    .collect(Collectors.toMap(
                            method -> method.getName() + Type.getMethodDescriptor(method),
                            Function.identity(),
                            (one, other) -> one));
            this.limitedNames = limited.stream().map(Method::getName).collect(Collectors.toSet());
            this.callers = callers;
        }

        @Override
        public @Nullable MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] exceptions) {
            boolean instance = (access & (Opcodes.ACC_STATIC | Opcodes.ACC_BRIDGE)) == 0;
            String written = written(name);
            boolean isLimited =
                    limited.containsKey(name + descriptor) || !written.equals(name) && limitedNames.contains(written);
            return instance && !isLimited ? new Body(written, descriptor) : null;
        }

        /** The method that a lambda is written in. */
        private static String written(String name) {
            return name.startsWith("lambda$") ? name.substring(7, Math.max(7, name.lastIndexOf('$'))) : name;
        }

        private final class Body extends MethodVisitor {

            private final String caller;
            private final Set<Method> called = new LinkedHashSet<>();
            private boolean knowsOthers;

            Body(String caller, String descriptor) {
                super(SpringAsmInfo.ASM_VERSION);
                this.caller = caller;
                for (Type parameter : Type.getArgumentTypes(descriptor)) {
                    knowsOthers |= isOwner(parameter);
                }
            }

            private boolean isOwner(Type type) {
                return type.getSort() == Type.OBJECT && type.getInternalName().equals(owner);
            }

            @Override
            public void visitFieldInsn(int opcode, String of, String name, String descriptor) {
                knowsOthers |= isOwner(Type.getType(descriptor));
            }

            @Override
            public void visitTypeInsn(int opcode, String type) {
                knowsOthers |= type.equals(owner);
            }

            @Override
            public void visitMethodInsn(int opcode, String of, String name, String descriptor, boolean isInterface) {
                knowsOthers |= isOwner(Type.getReturnType(descriptor));
                Method method = of.equals(owner) ? limited.get(name + descriptor) : null;
                if (method != null) {
                    called.add(method);
                }
            }

            @Override
            public void visitEnd() {
                if (!knowsOthers) {
                    called.forEach(method -> callers.computeIfAbsent(method, each -> new TreeSet<>())
                            .add(caller));
                }
            }
        }
    }
}
