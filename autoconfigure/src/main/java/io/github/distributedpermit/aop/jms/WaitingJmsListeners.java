package io.github.distributedpermit.aop.jms;

import io.github.distributedpermit.aop.async.ListenerThreads;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Session;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.jms.config.JmsListenerEndpointRegistry;
import org.springframework.jms.listener.AbstractMessageListenerContainer;
import org.springframework.jms.listener.MessageListenerContainer;
import org.springframework.jms.listener.SessionAwareMessageListener;

/**
 * Lets the messages of {@code @JmsListener} methods wait for their permits until their container stops. Those that acknowledge a message also if its listener fails stay as they are: at a stop it would be lost.
 */
public final class WaitingJmsListeners {

    private final ObjectProvider<JmsListenerEndpointRegistry> registries;
    private final ListenerThreads threads;

    /** For the containers in these registries, whose threads become known. */
    public WaitingJmsListeners(ObjectProvider<JmsListenerEndpointRegistry> registries, ListenerThreads threads) {
        this.registries = registries;
        this.threads = threads;
    }

    /** To be called before the containers start. */
    public void prepare() {
        registries.stream()
                .flatMap(registry -> registry.getListenerContainers().stream())
                .forEach(this::prepare);
    }

    @SuppressWarnings("unchecked") // containers give it any message
    private void prepare(MessageListenerContainer container) {
        if (container instanceof AbstractMessageListenerContainer prepared
                && prepared.getMessageListener() instanceof SessionAwareMessageListener<?> given
                && !(given instanceof Waiting)
                && redelivers(prepared)) {
            prepared.setMessageListener(new Waiting((SessionAwareMessageListener<Message>) given, prepared, threads));
        }
    }

    private static boolean redelivers(AbstractMessageListenerContainer container) {
        return container.isSessionTransacted() || container.getSessionAcknowledgeMode() == Session.CLIENT_ACKNOWLEDGE;
    }

    private record Waiting(
            SessionAwareMessageListener<Message> given,
            AbstractMessageListenerContainer container,
            ListenerThreads threads)
            implements SessionAwareMessageListener<Message> {

        @Override
        public void onMessage(Message message, Session session) throws JMSException {
            threads.beginWaiting(container::isRunning);
            try {
                given.onMessage(message, session);
            } finally {
                threads.end();
            }
        }
    }
}
