/** Listeners of JMS: a message waits for its permit. Loaded only where spring-jms is present. */
@NullMarked
package io.github.distributedpermit.aop.jms;

import org.jspecify.annotations.NullMarked;
