package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.spi.Member;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/** Makes this instance's id, new at every start and not to be guessed, and its name. */
final class MemberFactory {

    private static final int ID_BYTES = 12;

    private static final int MOST_CHARACTERS = 200;

    private final SecureRandom random;

    MemberFactory(SecureRandom random) {
        this.random = random;
    }

    Member create(@Nullable String instanceName, @Nullable String application) {
        byte[] id = new byte[ID_BYTES];
        random.nextBytes(id);
        String name = StringUtils.hasText(instanceName) ? instanceName : name(application);
        return new Member(HexFormat.of().formatHex(id), printable(name));
    }

    /** The name is written into logs, also those of other instances. */
    private static String printable(String name) {
        String line = name.replaceAll("[\\p{Cntrl}\u2028\u2029]", "?");
        return line.length() > MOST_CHARACTERS ? line.substring(0, MOST_CHARACTERS) : line;
    }

    private static String name(@Nullable String application) {
        return "%s@%s:%d"
                .formatted(
                        StringUtils.hasText(application) ? application : "application",
                        host(),
                        ProcessHandle.current().pid());
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }
}
