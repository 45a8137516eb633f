/** Listeners of Kafka: a message waits for its permit while its container is paused. Loaded only where spring-kafka is present. */
@NullMarked
package io.github.distributedpermit.aop.kafka;

import org.jspecify.annotations.NullMarked;
