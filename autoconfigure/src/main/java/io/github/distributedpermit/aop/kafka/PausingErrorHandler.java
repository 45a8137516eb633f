package io.github.distributedpermit.aop.kafka;

import io.github.distributedpermit.aop.async.ListenerPermits;
import io.github.distributedpermit.aop.async.ListenerThreads;
import io.github.distributedpermit.aop.async.PermitPendingException;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.TopicPartitionOffset;

/**
 * In front of the application's error handler, which does not see a record that waits for its permit: the container keeps this
 * record and those behind it, pauses the consumer while it goes on polling, and delivers them when the permit is there.
 * Thread-safe.
 */
final class PausingErrorHandler implements CommonErrorHandler {

    private final CommonErrorHandler next;
    private final ListenerThreads threads;

    PausingErrorHandler(CommonErrorHandler next, ListenerThreads threads) {
        this.next = next;
        this.threads = threads;
    }

    /** A handler that seeks is asked for the records, and one that does not seek keeps them in the container. */
    @Override
    public boolean seeksAfterHandling() {
        ListenerPermits permits = threads.current();
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
            return retried(() -> next.handleBatchAndReturnRemaining(failure, records, consumer, container, listener));
        }
        pause(container, records.partitions().iterator().next(), pending);
        return (ConsumerRecords<K, V>) records;
    }

    /** A handler may call the listener of a batch again and again, and count what it throws. */
    private <T> T retried(Supplier<T> handling) {
        ListenerPermits permits = threads.current();
        return permits == null ? handling.get() : permits.withoutPausing(handling);
    }

    /** While the partition of the first record is paused, the container delivers none of those that it keeps. */
    private static void pause(
            MessageListenerContainer container, TopicPartition partition, PermitPendingException pending) {
        MessageListenerContainer consuming = container.getContainerFor(partition.topic(), partition.partition());
        consuming.pausePartition(partition);
        pending.decided().whenComplete((permits, failure) -> consuming.resumePartition(partition));
    }

    @Override
    public void onPartitionsAssigned(
            Consumer<?, ?> consumer, Collection<TopicPartition> partitions, Runnable publishPause) {
        ListenerPermits permits = threads.current();
        if (permits != null) {
            permits.cancel();
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
        retried(() -> {
            next.handleBatch(failure, records, consumer, container, listener);
            return true;
        });
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
