package io.github.distributedpermit.sample.report;

import io.github.distributedpermit.ui.PermitsUiEndpoint;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** The live page of the actuator at {@code /}, with buttons that send calls. */
@RestController
class LivePageController {

    private static final String BUTTONS = """
            <section>
              <h2>Send calls</h2>
              <p class="note">Each call exports a report for three seconds. Start a second instance on another port to see both.</p>
              <form>
                <button type="button" class="primary" data-send="1">Send 1</button>
                <button type="button" data-send="5">Send 5</button>
                <button type="button" data-send="20">Send 20</button>
              </form>
              <p id="sent" class="note" role="status"></p>
            </section>
            """;

    private final ObjectProvider<PermitsUiEndpoint> page;

    LivePageController(ObjectProvider<PermitsUiEndpoint> page) {
        this.page = page;
    }

    @GetMapping(path = "/", produces = MediaType.TEXT_HTML_VALUE)
    String page() {
        PermitsUiEndpoint exposed = page.getIfAvailable();
        if (exposed == null) {
            throw new ResponseStatusException(
                    HttpStatus.NOT_FOUND, "The endpoints permits and permitsui are not exposed");
        }
        return exposed.page()
                .replace("\"permitsui", "\"actuator/permitsui")
                .replace(
                        "data-permits=\"permits\"",
                        "data-permits=\"actuator/permits\" data-name=\"report-export\" data-calls=\"reports/calls?hold=3s&amp;count=\"")
                .replace("<!-- more -->", BUTTONS);
    }
}
