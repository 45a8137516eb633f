/**
 * Permits in Redis, on the application's own Lettuce connection. One Lua script per operation, all of a key's state in
 * one hash slot, one subscription per member.
 */
@NullMarked
package io.github.distributedpermit.backend.redis;

import org.jspecify.annotations.NullMarked;
