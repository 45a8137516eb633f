-- One look at the clock, one read and one write of a hash. KEYS: hash. ARGV: anything.
local now = redis.call('TIME')
local fields = redis.call('HMGET', KEYS[1], 'held', 'until')
redis.call('HSET', KEYS[1], 'held', ARGV[1], 'until', now[1])
return fields[1] and 1 or 0
