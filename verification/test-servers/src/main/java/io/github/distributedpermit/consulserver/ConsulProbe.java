package io.github.distributedpermit.consulserver;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A hand that reaches into Consul from outside: plain blocking requests, and a parser that is not the backend's. */
public final class ConsulProbe {

    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(2))
            .build();

    private final URI address;
    private final Optional<String> token;

    ConsulProbe(URI address) {
        this(address, Optional.empty());
    }

    private ConsulProbe(URI address, Optional<String> token) {
        this.address = address;
        this.token = token;
    }

    /** The same with an ACL token. */
    public ConsulProbe with(String secret) {
        return new ConsulProbe(address, Optional.of(secret));
    }

    URI address() {
        return address;
    }

    /**
     * A key.
     *
     * @param session that has it locked
     */
    public record Key(String name, String value, @Nullable String session, String flags, long modified) {}

    /** All keys with a prefix. */
    public List<Key> keys(String prefix) {
        HttpResponse<String> response = get("kv/" + prefix.replace("%", "%25").replace("~", "%7E") + "?recurse");
        if (response.statusCode() == 404) {
            return List.of();
        }
        List<Key> keys = new ArrayList<>();
        for (JsonElement each : JsonParser.parseString(response.body()).getAsJsonArray()) {
            JsonObject json = each.getAsJsonObject();
            JsonElement session = json.get("Session");
            keys.add(new Key(
                    json.get("Key").getAsString(),
                    value(json.get("Value")),
                    session == null ? null : session.getAsString(),
                    json.get("Flags").getAsBigInteger().toString(),
                    json.get("ModifyIndex").getAsLong()));
        }
        return keys;
    }

    private static String value(JsonElement encoded) {
        return encoded.isJsonNull()
                ? ""
                : new String(Base64.getDecoder().decode(encoded.getAsString()), StandardCharsets.UTF_8);
    }

    /** A session. */
    public record Session(String id, String name) {}

    /** All live sessions. */
    public List<Session> sessions() {
        List<Session> sessions = new ArrayList<>();
        for (JsonElement each :
                JsonParser.parseString(get("session/list").body()).getAsJsonArray()) {
            JsonObject json = each.getAsJsonObject();
            sessions.add(
                    new Session(json.get("ID").getAsString(), json.get("Name").getAsString()));
        }
        return sessions;
    }

    /** Ends a session, as an operator might. */
    public void destroySession(String id) {
        put("session/destroy/" + id, "");
    }

    /** Deletes a tree of keys, as an operator might. */
    public void deleteTree(String prefix) {
        send(request("kv/" + prefix + "?recurse").DELETE().build());
    }

    /** Index of the last Raft entry. */
    public long lastIndex() {
        String body = get("operator/autopilot/health").body();
        return JsonParser.parseString(body)
                .getAsJsonObject()
                .getAsJsonArray("Servers")
                .get(0)
                .getAsJsonObject()
                .get("LastIndex")
                .getAsLong();
    }

    /** Whether the catalog knows the node; before, no session can be made there. */
    public boolean knows(String node) {
        return get("catalog/node/" + node).body().contains(node);
    }

    /** Address of the leader's RPC, empty if there is none. */
    public String leader() {
        return JsonParser.parseString(get("status/leader").body()).getAsString();
    }

    String node() {
        return configuration("NodeName");
    }

    /** The agent's version. */
    public String version() {
        return configuration("Version");
    }

    private String configuration(String field) {
        return JsonParser.parseString(get("agent/self").body())
                .getAsJsonObject()
                .getAsJsonObject("Config")
                .get(field)
                .getAsString();
    }

    /** What tokens with it may do. */
    public record Policy(String id, String name) {}

    /** A new ACL policy; needs the right to make one. */
    public Policy newPolicy(String rules) {
        String name = "policy-" + UUID.randomUUID();
        return new Policy(text(answer("acl/policy", document(name, rules)).body(), "ID"), name);
    }

    /** From now on tokens with the policy may do this, and nothing else. */
    public void change(Policy policy, String rules) {
        put("acl/policy/" + policy.id(), document(policy.name(), rules));
    }

    private static String document(String name, String rules) {
        JsonObject policy = new JsonObject();
        policy.addProperty("Name", name);
        policy.addProperty("Rules", rules);
        return policy.toString();
    }

    /** The secret of a new ACL token with a policy of its own; needs the right to make one. */
    public String newToken(String rules) {
        return newToken(newPolicy(rules));
    }

    /** The secret of a new ACL token. */
    public String newToken(Policy policy) {
        String body = "{\"Policies\": [{\"Name\": \"%s\"}]}".formatted(policy.name());
        return text(answer("acl/token", body).body(), "SecretID");
    }

    /** From now on the agent refuses requests with this token. */
    public void revokeToken(String secret) {
        String accessor = text(with(secret).get("acl/token/self").body(), "AccessorID");
        send(request("acl/token/" + accessor).DELETE().build());
    }

    private static String text(String json, String field) {
        return JsonParser.parseString(json).getAsJsonObject().get(field).getAsString();
    }

    /** The status of a PUT. */
    public int put(String path, String body) {
        return answer(path, body).statusCode();
    }

    /** The answer to a PUT. */
    public HttpResponse<String> answer(String path, String body) {
        return send(request(path).PUT(BodyPublishers.ofString(body)).build());
    }

    private HttpResponse<String> get(String path) {
        return send(request(path).GET().build());
    }

    private HttpRequest.Builder request(String path) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(address + "/v1/" + path)).timeout(Duration.ofSeconds(10));
        token.ifPresent(secret -> request.header("X-Consul-Token", secret));
        return request;
    }

    private static HttpResponse<String> send(HttpRequest request) {
        try {
            return CLIENT.send(request, BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
