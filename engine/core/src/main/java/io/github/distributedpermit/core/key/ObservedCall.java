package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.Caller;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A call as observers and operators see it: first its {@link Waiter}, then its {@link Grant}, which takes over what observers have attached to the
 * other. Thread-safe; observers attach one after another.
 */
abstract class ObservedCall implements PermitCall {

    /** The name under which the call was made. */
    public final PermitName permit;

    /** How many permits the call wants. */
    public final int weight;

    /** Who made the call, if that is recorded; for operators. */
    public volatile @Nullable Caller caller;

    /** Whether the thread that made the call did not wait for its outcome. Written before {@link #caller}, and looked at with that only. */
    public boolean asynchronous;

    private volatile @Nullable Attachment attachments;

    ObservedCall(PermitName permit, int weight) {
        this.permit = permit;
        this.weight = weight;
    }

    @Override
    public final String name() {
        return permit.name();
    }

    @Override
    public final String observedName() {
        return permit.observedName();
    }

    @Override
    public final int permits() {
        return weight;
    }

    /** What operators see of the call, which has been in that state since that time. */
    final CallView view(CallView.State state, long since, long now) {
        Duration age = Duration.ofNanos(Math.max(0, now - since));
        Optional<Caller> made = Optional.ofNullable(caller);
        return new CallView(name(), key(), weight, state, age, made, place());
    }

    /** Whether the thread that made the call is within it now. */
    abstract CallView.Place place();

    @Override
    public final void attach(PermitObserver owner, Object value) {
        attachments = new Attachment(owner, value, attachments);
    }

    @Override
    public final @Nullable Object attached(PermitObserver owner) {
        Attachment each = attachments;
        while (each != null && each.owner != owner) {
            each = each.before;
        }
        return each == null ? null : each.value;
    }

    /** What is attached to the other is attached to this one. */
    final void takeOver(ObservedCall other) {
        if (other.attachments != null) {
            attachments = other.attachments;
        }
    }

    /** The newest one of an owner counts. */
    private record Attachment(
            PermitObserver owner, Object value, @Nullable Attachment before) {}
}
