package io.github.distributedpermit.http;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpResponse;

/** An answer whose request has a permit until it is closed, or its body is read to the end or closed. */
final class LimitedResponse implements ClientHttpResponse {

    private final ClientHttpResponse response;
    private final RequestPermit permit;

    LimitedResponse(ClientHttpResponse response, RequestPermit permit) {
        this.response = response;
        this.permit = permit;
    }

    @Override
    public HttpStatusCode getStatusCode() throws IOException {
        return response.getStatusCode();
    }

    @Override
    public String getStatusText() throws IOException {
        return response.getStatusText();
    }

    @Override
    public HttpHeaders getHeaders() {
        return response.getHeaders();
    }

    @Override
    public InputStream getBody() throws IOException {
        return new LimitedBody(response.getBody(), permit);
    }

    @Override
    public void close() {
        try {
            response.close();
        } finally {
            permit.close();
        }
    }

    private static final class LimitedBody extends FilterInputStream {

        private final RequestPermit permit;

        LimitedBody(InputStream body, RequestPermit permit) {
            super(body);
            this.permit = permit;
        }

        @Override
        public int read() throws IOException {
            return seen(super.read());
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            return seen(super.read(bytes, offset, length));
        }

        private int seen(int read) {
            if (read < 0) {
                permit.close();
            }
            return read;
        }

        @Override
        public void close() throws IOException {
            try {
                super.close();
            } finally {
                permit.close();
            }
        }
    }
}
