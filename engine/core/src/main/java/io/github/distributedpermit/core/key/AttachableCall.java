package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import org.jspecify.annotations.Nullable;

/**
 * A call as observers see it: first its {@link Waiter}, then its {@link Grant}, which takes over what observers have attached to the
 * other. Thread-safe; observers attach one after another.
 */
abstract class AttachableCall implements PermitCall {

    private volatile @Nullable Attachment attachments;

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
    final void takeOver(AttachableCall other) {
        if (other.attachments != null) {
            attachments = other.attachments;
        }
    }

    /** The newest one of an owner counts. */
    private record Attachment(
            PermitObserver owner, Object value, @Nullable Attachment before) {}
}
