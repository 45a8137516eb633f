-- The semaphore of the literature: a sorted set of holders by time and a counter for fairness, made atomic by Lua.
-- KEYS: holders, counter, wake-ups. ARGV: id, now, lease, limit.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2] - ARGV[3])
if redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[4]) then
  redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
  return redis.call('INCR', KEYS[2])
end
return 0
