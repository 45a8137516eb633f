package io.github.distributedpermit.ui;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.springframework.util.FileSystemUtils;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A headless Chromium with one page, steered by its DevTools protocol. */
final class Chromium implements AutoCloseable {

    private static final JsonMapper JSON = new JsonMapper();
    private static final long PATIENCE_SECONDS = 60;

    private final AtomicInteger ids = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonNode>> pending = new ConcurrentHashMap<>();
    private final List<String> errors = new CopyOnWriteArrayList<>();
    private final Path profile;
    private final Process process;
    private final WebSocket socket;
    private final String session;

    /** Starts a browser. */
    Chromium(String executable) throws IOException {
        profile = Files.createTempDirectory("distributed-permit-chromium");
        process = new ProcessBuilder(
                        executable,
                        "--headless=new",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-dev-shm-usage",
                        "--disable-extensions",
                        "--disable-background-networking",
                        "--disable-component-update",
                        "--no-first-run",
                        "--hide-scrollbars",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "about:blank")
                .redirectErrorStream(true)
                .start();
        socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(address(process.inputReader()), new Messages())
                .orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS)
                .join();
        String target = call(null, "Target.createTarget", Map.of("url", "about:blank"))
                .at("/targetId")
                .asString();
        session = call(null, "Target.attachToTarget", Map.of("targetId", target, "flatten", true))
                .at("/sessionId")
                .asString();
        page("Page.enable", Map.of());
        page("Runtime.enable", Map.of());
    }

    /** Reads on afterwards, so that the browser never waits for its output to be read. */
    private static URI address(BufferedReader output) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            int at = line.indexOf("ws://");
            if (at >= 0) {
                Thread reader = new Thread(() -> output.lines().forEach(rest -> {}), "chromium-output");
                reader.setDaemon(true);
                reader.start();
                return URI.create(line.substring(at).strip());
            }
        }
        throw new IllegalStateException("Chromium ended before it listened");
    }

    private JsonNode call(@Nullable String in, String method, Map<String, ?> parameters) {
        int id = ids.incrementAndGet();
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        pending.put(id, answer);
        Map<String, Object> message = new java.util.HashMap<>(Map.of("id", id, "method", method, "params", parameters));
        if (in != null) {
            message.put("sessionId", in);
        }
        synchronized (this) { // a message may not be sent before the one before it has been
            socket.sendText(JSON.writeValueAsString(message), true).join();
        }
        return answer.orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
    }

    JsonNode page(String method, Map<String, ?> parameters) {
        return call(session, method, parameters);
    }

    void open(String url) {
        page("Page.navigate", Map.of("url", url));
    }

    /** The value of an expression. */
    JsonNode evaluate(String expression) {
        JsonNode result = page("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true));
        if (result.has("exceptionDetails")) {
            throw new IllegalStateException(result.toString());
        }
        return result.at("/result/value");
    }

    /** The value that a promise gets. */
    JsonNode awaited(String promise) {
        return page("Runtime.evaluate", Map.of("expression", promise, "returnByValue", true, "awaitPromise", true))
                .at("/result/value");
    }

    /** Runs this in each page from the next one on, before anything of the page. */
    void beforePages(String script) {
        page("Page.addScriptToEvaluateOnNewDocument", Map.of("source", script));
    }

    String text(String selector) {
        return evaluate("(document.querySelector('" + selector + "') || {}).textContent || ''")
                .asString();
    }

    int count(String selector) {
        return evaluate("document.querySelectorAll('" + selector + "').length").asInt();
    }

    /** Presses and releases a key, such as {@code Tab} or {@code Enter}. */
    void press(String key, int code) {
        String typed = key.equals("Enter") ? "\r" : "";
        page(
                "Input.dispatchKeyEvent",
                Map.of("type", "keyDown", "key", key, "code", key, "windowsVirtualKeyCode", code, "text", typed));
        page("Input.dispatchKeyEvent", Map.of("type", "keyUp", "key", key, "code", key, "windowsVirtualKeyCode", code));
    }

    void type(String text) {
        page("Input.insertText", Map.of("text", text));
    }

    void size(int width, int height, double scale, boolean mobile) {
        page(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", scale, "mobile", mobile));
    }

    void colours(String scheme) {
        page(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    }

    void screenshot(Path file) throws IOException {
        JsonNode image = page("Page.captureScreenshot", Map.of("format", "png"));
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.write(file, Base64.getDecoder().decode(image.at("/data").asString()));
    }

    /** Uncaught exceptions and errors on the console so far. */
    List<String> errors() {
        return errors;
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
            FileSystemUtils.deleteRecursively(profile);
        } catch (IOException e) {
            // a helper of the browser may still be writing; the folder is temporary
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private final class Messages implements WebSocket.Listener {

        private final List<CharSequence> parts = new ArrayList<>();

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
            parts.add(data.toString());
            if (last) {
                JsonNode message = JSON.readTree(String.join("", parts));
                parts.clear();
                received(message);
            }
            from.request(1);
            return null;
        }

        private void received(JsonNode message) {
            CompletableFuture<JsonNode> answer =
                    pending.remove(message.at("/id").asInt(-1));
            if (answer != null && message.has("error")) {
                answer.completeExceptionally(new IllegalStateException(message.toString()));
            } else if (answer != null) {
                answer.complete(message.at("/result"));
            } else if (message.at("/method").asString("").equals("Runtime.exceptionThrown")
                    || (message.at("/method").asString("").equals("Runtime.consoleAPICalled")
                            && message.at("/params/type").asString("").equals("error"))) {
                errors.add(message.toString());
            }
        }
    }
}
