package io.github.distributedpermit.benchmark.peers;

import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The {@code .lock} document of Consul's semaphore guide: a session and a contender key for every acquire, check-and-set
 * of the list of holders, and 100 ms of sleep when the list is full.
 */
public final class ConsulLock implements Contender {

    private static final Pattern INDEX = Pattern.compile("\"ModifyIndex\"\\s*:\\s*(\\d+)");
    private static final Pattern VALUE = Pattern.compile("\"Value\"\\s*:\\s*\"([^\"]*)\"");
    private static final Pattern HOLDER = Pattern.compile("\"([0-9a-f-]{36})\"");
    private static final long SLEEP_MILLIS = 100;

    private final ConsulHttp consul;

    /** An agent on the loopback interface. */
    public ConsulLock(int port) {
        consul = new ConsulHttp(port);
    }

    @Override
    public Gate gate(String key, int limit) {
        String prefix = "kv/naive-lock/" + key.replace(' ', '-').replace(",", "") + "/";
        return new Gate() {
            @Override
            public Object enter() throws Exception {
                String session = consul.session();
                consul.put(prefix + session + "?acquire=" + session, "");
                while (!add(prefix, session, limit)) {
                    TimeUnit.MILLISECONDS.sleep(SLEEP_MILLIS);
                }
                return session;
            }

            @Override
            public void leave(Object pass) throws Exception {
                String session = (String) pass;
                while (!remove(prefix, session, limit)) {
                    Thread.onSpinWait();
                }
                consul.delete(prefix + session);
                consul.destroy(session);
            }
        };
    }

    private boolean add(String prefix, String session, int limit) throws IOException, InterruptedException {
        Document document = read(prefix);
        return document.holders().size() < limit && document.holders().add(session) && write(prefix, document, limit);
    }

    private boolean remove(String prefix, String session, int limit) throws IOException, InterruptedException {
        Document document = read(prefix);
        return !document.holders().remove(session) || write(prefix, document, limit);
    }

    private Document read(String prefix) throws IOException, InterruptedException {
        String body = consul.get(prefix + ".lock").body();
        Matcher index = INDEX.matcher(body);
        Matcher value = VALUE.matcher(body);
        Set<String> holders = new LinkedHashSet<>();
        if (value.find()) {
            String text = new String(Base64.getDecoder().decode(value.group(1)), StandardCharsets.UTF_8);
            Matcher holder = HOLDER.matcher(text);
            while (holder.find()) {
                holders.add(holder.group(1));
            }
        }
        return new Document(index.find() ? index.group(1) : "0", holders);
    }

    private boolean write(String prefix, Document document, int limit) throws IOException, InterruptedException {
        StringBuilder holders = new StringBuilder();
        document.holders()
                .forEach(holder -> holders.append(holders.length() == 0 ? "\"" : ",\"")
                        .append(holder)
                        .append("\":true"));
        String body = "{\"Limit\":" + limit + ",\"Holders\":{" + holders + "}}";
        return consul.put(prefix + ".lock?cas=" + document.index(), body).startsWith("true");
    }

    @Override
    public void close() {
        // nothing is kept
    }

    private record Document(String index, Set<String> holders) {}
}
