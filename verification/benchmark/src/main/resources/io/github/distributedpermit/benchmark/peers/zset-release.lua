-- KEYS: holders, counter, wake-ups. ARGV: id, limit.
if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 and redis.call('LLEN', KEYS[3]) < tonumber(ARGV[2]) then
  redis.call('LPUSH', KEYS[3], ARGV[1])
end
return 1
