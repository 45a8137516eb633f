package io.github.distributedpermit.web;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.util.InvalidMimeTypeException;
import org.springframework.util.MimeTypeUtils;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * The servlet response of the current thread's request, if it has one that is not sent yet. Loaded only where the Servlet API is on the
 * class path.
 */
final class CurrentResponse {

    private static final List<String> BODY = List.of(
            HttpHeaders.CONTENT_TYPE,
            HttpHeaders.CONTENT_DISPOSITION,
            HttpHeaders.CONTENT_ENCODING,
            HttpHeaders.CONTENT_LANGUAGE,
            HttpHeaders.CONTENT_LOCATION,
            HttpHeaders.CONTENT_RANGE);

    private CurrentResponse() {}

    /**
     * Removes the headers that describe a body which is not written, as WebFlux does by itself: with the length of another body, the
     * answer would be cut or never end. A browser then gets the application's error page.
     *
     * @return whether that has answered the request
     */
    static boolean answersWithPage(int status, String retryAfter) {
        if (!(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes current)) {
            return false;
        }
        HttpServletResponse response = current.getResponse();
        if (response == null || response.isCommitted()) {
            return false;
        }
        response.setContentLengthLong(-1);
        BODY.forEach(name -> response.setHeader(name, null));
        if (!prefersHtml(current.getRequest().getHeader(HttpHeaders.ACCEPT))) {
            return false;
        }
        response.setHeader(HttpHeaders.RETRY_AFTER, retryAfter);
        try {
            response.sendError(status);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // the client has gone
        }
        return true;
    }

    private static boolean prefersHtml(@Nullable String accept) {
        try {
            List<MediaType> types = new ArrayList<>(MediaType.parseMediaTypes(accept));
            MimeTypeUtils.sortBySpecificity(types);
            return !types.isEmpty() && MediaType.TEXT_HTML.equalsTypeAndSubtype(types.get(0));
        } catch (InvalidMediaTypeException | InvalidMimeTypeException e) {
            return false;
        }
    }
}
