/**
 * The entrance to the core: the engine that Spring's side creates, and the catalog of permits that it keeps. It knows all other
 * packages of the core; none of them knows it.
 */
@NullMarked
package io.github.distributedpermit.core.engine;

import org.jspecify.annotations.NullMarked;
