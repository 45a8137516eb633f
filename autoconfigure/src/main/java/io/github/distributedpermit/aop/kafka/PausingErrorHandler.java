package io.github.distributedpermit.aop.kafka;

import io.github.distributedpermit.aop.async.ListenerPermits;
import io.github.distributedpermit.aop.async.ListenerThreads;
import io.github.distributedpermit.aop.async.PermitPendingException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.TopicPartitionOffset;

/**
 * In front of the application's error handler, which does not see a record that waits for its permit: the container keeps this
 * record and those behind it, pauses the consumer while it goes on polling, and delivers them when the permit is there.
 * Thread-safe.
 */
final class PausingErrorHandler implements CommonErrorHandler {

    private static final Duration POLL = Duration.ofMillis(100);

    private final CommonErrorHandler next;
    private final ListenerThreads threads;

    PausingErrorHandler(CommonErrorHandler next, ListenerThreads threads) {
        this.next = next;
        this.threads = threads;
    }

    /** A handler that seeks is asked for the records, and one that does not seek keeps them in the container. */
    @Override
    public boolean seeksAfterHandling() {
        ListenerPermits permits = threads.pausing();
        return (permits == null || !permits.isPending()) && next.seeksAfterHandling();
    }

    @Override
    public boolean handleOne(
            Exception failure,
            ConsumerRecord<?, ?> record,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        PermitPendingException pending = PermitPendingException.in(failure);
        if (pending == null) {
            return next.handleOne(failure, record, consumer, container);
        }
        pause(container, new TopicPartition(record.topic(), record.partition()), pending);
        return false;
    }

    @Override
    @SuppressWarnings("unchecked") // the container gets its own records back
    public <K, V> ConsumerRecords<K, V> handleBatchAndReturnRemaining(
            Exception failure,
            ConsumerRecords<?, ?> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable listener) {
        PermitPendingException pending = PermitPendingException.in(failure);
        if (pending == null) {
            try {
                return next.handleBatchAndReturnRemaining(
                        failure, records, consumer, container, waiting(listener, records, consumer, container));
            } catch (StoppedError e) {
                throw e.toException();
            }
        }
        pause(container, records.partitions().iterator().next(), pending);
        return (ConsumerRecords<K, V>) records;
    }

    /** While the partition of the first record is paused, the container delivers none of those that it keeps. */
    private static void pause(
            MessageListenerContainer container, TopicPartition partition, PermitPendingException pending) {
        MessageListenerContainer consuming = container.getContainerFor(partition.topic(), partition.partition());
        consuming.pausePartition(partition);
        pending.decided().whenComplete((permits, failure) -> consuming.resumePartition(partition));
    }

    /**
     * For a handler that calls the listener again until its batch is processed. It would count a call that finds no permit, so that
     * this call ends only after the wait, in which the consumer polls.
     */
    private static Runnable waiting(
            Runnable listener,
            ConsumerRecords<?, ?> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        return () -> {
            PermitPendingException pending = call(listener);
            while (pending != null) {
                poll(pending, records.partitions().iterator().next(), consumer, container);
                pending = call(listener);
            }
        };
    }

    private static @Nullable PermitPendingException call(Runnable listener) {
        try {
            listener.run();
            return null;
        } catch (RuntimeException e) {
            PermitPendingException pending = PermitPendingException.in(e);
            if (pending == null) {
                throw e;
            }
            return pending;
        }
    }

    private static void poll(
            PermitPendingException pending,
            TopicPartition first,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        MessageListenerContainer consuming = container.getContainerFor(first.topic(), first.partition());
        Set<TopicPartition> paused = new HashSet<>(consumer.assignment());
        paused.removeAll(consumer.paused());
        consumer.pause(paused);
        while (!pending.decided().isDone()) {
            try {
                consumer.poll(POLL); // of paused partitions, so that it returns nothing
            } catch (WakeupException e) {
                // The container stops, or the poll was not for this.
            }
            if (!consuming.isRunning()) {
                throw new StoppedError();
            }
        }
        paused.retainAll(consumer.assignment());
        consumer.resume(paused);
    }

    /** Leaves a handler, which would count an exception as an attempt. */
    private static final class StoppedError extends Error {

        private static final long serialVersionUID = 1L;

        StoppedError() {
            super("The container stopped while its batch waited for a permit: the batch is delivered again", null);
        }

        KafkaException toException() {
            return new KafkaException(String.valueOf(getMessage()), KafkaException.Level.INFO, this);
        }
    }

    @Override
    public void onPartitionsAssigned(
            Consumer<?, ?> consumer, Collection<TopicPartition> partitions, Runnable publishPause) {
        ListenerPermits permits = threads.pausing();
        if (permits != null) {
            permits.cancelAll();
        }
        next.onPartitionsAssigned(consumer, partitions, publishPause);
    }

    @Override
    public void handleRemaining(
            Exception failure,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        next.handleRemaining(failure, records, consumer, container);
    }

    @Override
    public void handleBatch(
            Exception failure,
            ConsumerRecords<?, ?> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable listener) {
        try {
            next.handleBatch(failure, records, consumer, container, waiting(listener, records, consumer, container));
        } catch (StoppedError e) {
            throw e.toException();
        }
    }

    @Override
    public void handleOtherException(
            Exception failure, Consumer<?, ?> consumer, MessageListenerContainer container, boolean batchListener) {
        next.handleOtherException(failure, consumer, container, batchListener);
    }

    @Override
    public boolean deliveryAttemptHeader() {
        return next.deliveryAttemptHeader();
    }

    @Override
    public int deliveryAttempt(TopicPartitionOffset record) {
        return next.deliveryAttempt(record);
    }

    @Override
    public boolean isAckAfterHandle() {
        return next.isAckAfterHandle();
    }

    @Override
    public void setAckAfterHandle(boolean ack) {
        next.setAckAfterHandle(ack);
    }

    @Override
    public void clearThreadState() {
        next.clearThreadState();
    }
}
