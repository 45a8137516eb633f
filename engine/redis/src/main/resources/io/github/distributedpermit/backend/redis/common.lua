-- What all operations on a key share; put in front of each of them when it is loaded. Both together are one function.
--
-- KEYS: state, line, leases, tombs, override. All are in one hash slot.
--   state     hash: member -> record, '*' -> header; names that can't be a member's id are kept for other fields of the key
--   line      sorted set: members in line by the arrival of their oldest waiter
--   leases    sorted set: members by a lower bound of when their lease ends; the record has the exact time
--   tombs     likewise, members that have returned everything: their sequence is remembered for a while
--   override  the operator's limit; the only one that stays when nobody uses the key
--
-- Times are microseconds of the server's clock. They, versions and sequences are doubles, exact to 2^53. What is written
-- stays below 64 bytes, so that a small hash keeps its compact form.
--
-- The header begins with the mark, the format of its newest writer and the minimum reader (see docs/compatibility.md). A
-- record ends with the format of its last writer. Newer formats add bytes at the end of both. What this script does not know
-- there it keeps, and it never lowers the format or the minimum reader of a header.
--
-- A call makes every function and every variable that functions share anew, which costs more than most of them do. So
-- what they share is in one table, and what only some calls need is made by those (see serve.lua).

local KEYS, ARGV, time, found = ... -- the last two, if the caller has asked for them already
local STATE, LINE, LEASES, TOMBS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local MARK, FORMAT, MINIMUM_READER = 'DP', 1, 1
local HEADER_PACKING, HEADER_LENGTH = '<c2BBI4I4i4dddd', 48
local RECORD_PACKING, RECORD_LENGTH = '<I4I4I4I4I4dddddBB', 62
local call = redis.call
time = time or call('TIME')

local op = {
  now = time[1] * 1000000 + time[2],
  format = FORMAT, reader = MINIMUM_READER,       -- the key's header, as are:
  used = 0, line = 0, override = -1, version = 0,
  lease = math.huge, tomb = math.huge,            -- lower bounds of the scores in `leases` and `tombs`
  life = 0,                                       -- when the key expires
  tail = '',                                      -- what a newer format has added
  records = {},                                   -- by member; false: known to have none
  changed = {},                                   -- records to be written at the end
  unborn = {},                                    -- sets this call has created: they have no expiry yet
  head = false,                                   -- who heads the line, as far as anybody has looked
  leaving = false,                                -- a member to take out of the line at the end
  served = false,                                 -- members to be notified at the end, if there are any
  refused = false,                                -- an error to be returned after all is written
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
    version = version, expiry = expiry, lease = lease, tomb = tomb, waiting = waiting == 1,
    tail = #packed > RECORD_LENGTH and string.sub(packed, RECORD_LENGTH + 1) or '' }
end

-- Reads the header and the record of one member, if a member is given. Returns an error, or nothing.
local function load(member)
  found = found or call('HMGET', STATE, '*', member or '*')
  local packed = found[1]
  local first, second, format, reader = string.byte(packed or '', 1, 4)
  local ours = reader and first == 68 and second == 80 -- the mark
  if ours and reader > FORMAT then
    return redis.error_reply(string.format('DPNEWER %d %d %d %s', format, reader, FORMAT, STATE))
  end
  if ours and #packed >= HEADER_LENGTH then
    local _
    _, _, _, op.used, op.line, op.override, op.version, op.lease, op.tomb, op.life = struct.unpack(HEADER_PACKING, packed)
    op.format = format > FORMAT and format or FORMAT
    op.reader = reader > MINIMUM_READER and reader or MINIMUM_READER
    op.tail = #packed > HEADER_LENGTH and string.sub(packed, HEADER_LENGTH + 1) or ''
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
