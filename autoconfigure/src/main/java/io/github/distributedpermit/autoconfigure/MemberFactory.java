package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.spi.Member;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * Makes this instance a member of the store: with its name, and an id that is new each time and not to be guessed. The
 * generator of the id is made each time as well, because a process may go on as several copies of one image (CRaC), and in
 * each of them a generator that was made before would return the same numbers. Thread-safe.
 */
final class MemberFactory implements Supplier<Member> {

    private static final int ID_BYTES = 12;

    private static final int MOST_CHARACTERS = 200;

    private final Supplier<SecureRandom> generators;
    private final @Nullable String instanceName;
    private final @Nullable String application;

    MemberFactory(@Nullable String instanceName, @Nullable String application) {
        this(SecureRandom::new, instanceName, application);
    }

    MemberFactory(Supplier<SecureRandom> generators, @Nullable String instanceName, @Nullable String application) {
        this.generators = generators;
        this.instanceName = instanceName;
        this.application = application;
    }

    @Override
    public Member get() {
        byte[] id = new byte[ID_BYTES];
        generators.get().nextBytes(id);
        String name = StringUtils.hasText(instanceName) ? instanceName : name();
        return new Member(HexFormat.of().formatHex(id), printable(name));
    }

    /** The name is written into logs, also those of other instances. */
    private static String printable(String name) {
        String line = name.replaceAll("[\\p{Cntrl}\u2028\u2029]", "?");
        return line.length() > MOST_CHARACTERS ? line.substring(0, MOST_CHARACTERS) : line;
    }

    /** What all instances of this application are called. */
    String application() {
        return StringUtils.hasText(application) ? application : "application";
    }

    private String name() {
        return "%s@%s:%d"
                .formatted(application(), host(), ProcessHandle.current().pid());
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }
}
