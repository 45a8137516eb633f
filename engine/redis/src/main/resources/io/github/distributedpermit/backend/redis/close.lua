-- Closes a server that has been replaced as the master: it grants and renews no permits any more (see lineage.lua). An instance
-- that reaches the old and the new master executes it, for all those that reach only the old one.
--
-- KEYS: the lineage. ARGV: the epoch under which the server has granted permits, and the vote of the Sentinels (their configuration
-- epoch) that has made another server the master. The vote is stored in the place of the node, which only servers of a cluster
-- have, so that a later vote for this server can open it (open.lua). Returns 1 if it is closed now. A server that has another epoch
-- by now is not closed: it was promoted again, or follows another master.

-- As server_epoch in serve.lua; the salt follows 73 bytes.
local function salted_epoch(salt)
  local found = redis.pcall('INFO', 'replication')
  local _, last = string.find(type(found) == 'string' and found or '', 'master_replid:', 1, true)
  local own = last and tonumber(string.sub(found, last + 1, last + 8), 16) or 0
  return own == 0 and 0 or math.max(1, own - own % 65536 + (own + salt) % 65536)
end

local epoch, vote = tonumber(ARGV[1]), tonumber(ARGV[2])
local lineage = redis.call('GET', KEYS[1])
if not lineage or #lineage < 75 or struct.unpack('<I4', lineage) ~= epoch
  or salted_epoch(struct.unpack('<I2', lineage, 74)) ~= epoch then
  return 0
end
if struct.unpack('<I4', lineage, 5) == epoch then -- closed already, perhaps by a member that knows of a later vote
  vote = math.max(vote, tonumber(string.sub(lineage, 58, 73)) or 0)
end
local closed = string.sub(lineage, 1, 4) .. struct.pack('<I4', epoch) .. string.sub(lineage, 9, 57)
  .. string.format('%016d', vote) .. string.sub(lineage, 74)
local reply = redis.pcall('SET', KEYS[1], closed)
if type(reply) == 'table' and reply.err then
  redis.call('DEL', KEYS[1]) -- a server that is out of memory refuses a write only as the first one of an execution
  redis.call('SET', KEYS[1], closed)
end
return 1
