package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.testsupport.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What docs/security.md gives to the user of permits. Stateless. */
final class DocumentedRights {

    static final Path DOCUMENT = Path.of("..", "..", "docs", "security.md");
    static final String USER = "permits";
    static final String PASSWORD = "PASSWORD";

    /** Commands of Lettuce: {@code HELLO} needs no right, and {@code CLIENT} may fail. */
    static final Set<String> CLIENTS_OWN = Set.of("hello", "client");

    private DocumentedRights() {}

    /** The rule, without line breaks. */
    static String rule() throws IOException {
        return find("ACL SETUSER (?:[^\n]+\n +)*[^\n]+").replaceAll("\\s+", " ").trim();
    }

    /** What a Cluster needs besides. */
    static String inACluster() throws IOException {
        return find("(?<=In a Cluster also `)[^`]+");
    }

    private static String find(String pattern) throws IOException {
        Matcher found = Pattern.compile(pattern).matcher(Files.readString(DOCUMENT));
        assertThat(found.find()).as(pattern + " in " + DOCUMENT).isTrue();
        return found.group();
    }

    /** Gives them to the user, and clears the log of what was denied. */
    static void permit(RedisEye eye, String rule) {
        eye.acl(rule.replaceFirst("^ACL ", "").split(" "));
        eye.acl("LOG", "RESET");
    }

    /** What the server has denied since. */
    static Set<String> denials(RedisServer server) {
        return denials(server, "");
    }

    /** Likewise, of {@code toplevel} or {@code lua}. */
    static Set<String> denials(RedisServer server, String context) {
        return server.ask(commands -> commands.aclLog()).stream()
                .filter(entry -> String.valueOf(entry.get("context")).startsWith(context))
                .map(entry -> String.valueOf(entry.get("object")).replaceAll("\\|.*", ""))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
