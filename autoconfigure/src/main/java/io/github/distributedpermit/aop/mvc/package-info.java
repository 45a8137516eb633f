/** Holds the permits of methods that return an asynchronous type of Spring MVC. Loaded only where a method returns one. */
@NullMarked
package io.github.distributedpermit.aop.mvc;

import org.jspecify.annotations.NullMarked;
