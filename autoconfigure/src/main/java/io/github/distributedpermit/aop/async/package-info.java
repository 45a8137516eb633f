/**
 * Holds the permits of a limited method until its asynchronous work has ended, by the type that the method returns. Uses
 * the API only. The types of Reactive Streams, Reactor and Micrometer are loaded only where a method returns them or an
 * application has them.
 */
@NullMarked
package io.github.distributedpermit.aop.async;

import org.jspecify.annotations.NullMarked;
