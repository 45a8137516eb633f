-- Opens a server that was closed (close.lua), because a later vote of the Sentinels has made it the master again. Nothing else would:
-- if it was chosen before it followed the other master, its replication id is the same as before, and so is its epoch.
--
-- The other master may have granted permits meanwhile, of which this server knows nothing. So its records must count as incomplete,
-- although it has written them itself: the salt changes, and with it the epoch, and the run is forgotten, so that the data are not
-- taken over whole. The next claim begins a grace.
--
-- KEYS: the lineage. ARGV: the vote that has made this server the master. Returns 1 if it was closed by an earlier vote and is open now.

local lineage = redis.call('GET', KEYS[1])
if not lineage or #lineage < 75 then
  return 0
end
local epoch, closed = struct.unpack('<I4I4', lineage)
local closed_by = tonumber(string.sub(lineage, 58, 73))
if closed ~= epoch or not closed_by or closed_by >= tonumber(ARGV[1]) then
  return 0
end
local time = redis.call('TIME')
local salt = struct.unpack('<I2', lineage, 74)
local next_salt = (salt + 1 + math.floor(time[1] * 1000 + time[2] / 1000) % 65535) % 65536 -- never the same
local no_name = string.rep('-', 16)
local opened = string.sub(lineage, 1, 41) .. no_name .. no_name .. struct.pack('<I2', next_salt)
  .. string.sub(lineage, 76)
local reply = redis.pcall('SET', KEYS[1], opened)
if type(reply) == 'table' and reply.err then
  redis.call('DEL', KEYS[1]) -- a server that is out of memory refuses a write only as the first one of an execution
  redis.call('SET', KEYS[1], opened)
end
return 1
