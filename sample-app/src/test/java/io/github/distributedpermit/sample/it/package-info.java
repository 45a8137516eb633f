/**
 * The sample as its users run it: the packaged application in JVMs of its own, spoken to over HTTP. Nothing here uses a
 * class of the library or of the application.
 */
@NullMarked
package io.github.distributedpermit.sample.it;

import org.jspecify.annotations.NullMarked;
