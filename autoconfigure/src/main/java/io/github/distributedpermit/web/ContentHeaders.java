package io.github.distributedpermit.web;

import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import org.springframework.http.HttpHeaders;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Removes the headers that describe a body which is not written, as WebFlux does by itself: with the length of another body,
 * the answer would be cut or never end. Loaded only where the Servlet API is on the class path.
 */
final class ContentHeaders {

    private static final List<String> NAMES = List.of(
            HttpHeaders.CONTENT_TYPE,
            HttpHeaders.CONTENT_DISPOSITION,
            HttpHeaders.CONTENT_ENCODING,
            HttpHeaders.CONTENT_LANGUAGE,
            HttpHeaders.CONTENT_LOCATION,
            HttpHeaders.CONTENT_RANGE);

    private ContentHeaders() {}

    /** Removes them from the response of the current thread's request, if it has one and has not sent them. */
    static void removeFromCurrent() {
        RequestAttributes request = RequestContextHolder.getRequestAttributes();
        HttpServletResponse response =
                request instanceof ServletRequestAttributes servlet ? servlet.getResponse() : null;
        if (response != null && !response.isCommitted()) {
            response.setContentLengthLong(-1);
            NAMES.forEach(name -> response.setHeader(name, null));
        }
    }
}
