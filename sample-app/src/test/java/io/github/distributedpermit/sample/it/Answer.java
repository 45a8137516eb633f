package io.github.distributedpermit.sample.it;

import java.net.http.HttpResponse;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What an instance said. */
record Answer(int status, String contentType, String retryAfter, JsonNode body) {

    private static final JsonMapper JSON = JsonMapper.shared();

    static Answer of(HttpResponse<String> response) {
        String contentType = response.headers().firstValue("Content-Type").orElse("");
        return new Answer(
                response.statusCode(),
                contentType,
                response.headers().firstValue("Retry-After").orElse(""),
                contentType.contains("json") ? JSON.readTree(response.body()) : JSON.valueToTree(response.body()));
    }

    String text(String field) {
        return body.path(field).asString("");
    }

    /** The last part of a problem's type. */
    String problem() {
        return text("type").replaceFirst(".*:", "");
    }
}
