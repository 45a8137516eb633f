-- What all operations on a key share; put in front of each of them when it is loaded. Both together are one function.
--
-- KEYS: state, line, leases, tombs, override. All are in one hash slot.
--   state     hash: member -> record, '*' -> header
--   line      sorted set: members in line by the arrival of their oldest waiter
--   leases    sorted set: members by a lower bound of when their lease ends; the record has the exact time
--   tombs     likewise, members that have returned everything: their sequence is remembered for a while
--   override  the operator's limit; the only one that stays when nobody uses the key
--
-- Times are microseconds of the server's clock. They, versions and sequences are doubles, exact to 2^53. What is written
-- stays below 64 bytes, so that a small hash keeps its compact form.
--
-- A call makes every function and every variable that functions share anew, which costs more than most of them do. So
-- what they share is in one table, and what only some calls need is made by those (see serve.lua).

local KEYS, ARGV, time, found = ... -- the last two, if the caller has asked for them already
local STATE, LINE, LEASES, TOMBS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local HEADER_PACKING, RECORD_PACKING = '<BI4I4i4dddd', '<I4I4I4I4I4dddddB'
local call = redis.call
time = time or call('TIME')

local op = {
  now = time[1] * 1000000 + time[2],
  used = 0, line = 0, override = -1, version = 0, -- the key's header, as are:
  lease = math.huge, tomb = math.huge,            -- lower bounds of the scores in `leases` and `tombs`
  life = 0,                                       -- when the key expires
  records = {},                                   -- by member; false: known to have none
  changed = {},                                   -- records to be written at the end
  unborn = {},                                    -- sets this call has created: they have no expiry yet
  head = false,                                   -- who heads the line, as far as anybody has looked
  leaving = false,                                -- a member to take out of the line at the end
  written = false,                                -- whether anything has been written yet
  lenient = false,                                -- whether to go on when the server is out of memory
  clustered = false,
  fresh = false,                                  -- the key has no state
  stray = false,                                  -- it has none, but parts of a lost one
}

local function decode(packed)
  local permits, wanted, unit, least, own, sequence, version, expiry, lease, tomb, waiting =
    struct.unpack(RECORD_PACKING, packed)
  return { permits = permits, wanted = wanted, unit = unit, least = least, limit = own, sequence = sequence,
    version = version, expiry = expiry, lease = lease, tomb = tomb, waiting = waiting == 1 }
end

-- Reads the header and the record of one member, if a member is given. Returns an error, or nothing.
local function load(member)
  found = found or call('HMGET', STATE, '*', member or '*')
  local packed = found[1]
  if packed and string.byte(packed) == 1 then
    local _
    _, op.used, op.line, op.override, op.version, op.lease, op.tomb, op.life = struct.unpack(HEADER_PACKING, packed)
    if member then
      op.records[member] = found[2] and decode(found[2]) or false
    end
    return
  end

  -- No state of ours. What is there instead must not be overwritten.
  local function foreign(key)
    return redis.error_reply('DPFOREIGN ' .. key .. ' holds something that is not ours')
  end
  if packed or call('EXISTS', STATE) == 1 then
    return foreign(STATE)
  end
  if call('EXISTS', LINE, LEASES, TOMBS) > 0 then
    for i = 2, 4 do
      local kind = call('TYPE', KEYS[i]).ok
      if kind ~= 'zset' and kind ~= 'none' then
        return foreign(KEYS[i])
      end
    end
    op.stray = true
  end
  local override = call('GET', KEYS[5])
  if override and not tonumber(override) then
    return foreign(KEYS[5])
  end
  op.override = tonumber(override or -1)
  op.fresh = true
end
