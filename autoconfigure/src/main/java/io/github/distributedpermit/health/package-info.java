/** Whether the store of permits answers, for actuator's health. */
@NullMarked
package io.github.distributedpermit.health;

import org.jspecify.annotations.NullMarked;
