/** A process of the fleet: the real library under load. */
@NullMarked
package io.github.distributedpermit.harness.member;

import org.jspecify.annotations.NullMarked;
