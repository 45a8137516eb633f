/** Listeners of RabbitMQ: a message waits for its permit. Loaded only where spring-rabbit is present. */
@NullMarked
package io.github.distributedpermit.aop.rabbit;

import org.jspecify.annotations.NullMarked;
