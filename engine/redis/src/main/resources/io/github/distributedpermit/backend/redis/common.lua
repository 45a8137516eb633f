-- The state of a key, which all operations share: its names, its format and how it is read. The class Script puts this file in
-- front of the others of an operation; together they are the body of one function.
--
-- KEYS: state, line, leases, tombs, override, and for what changes the key the lineage (see lineage.lua). All are in one hash slot.
--   state     hash: member -> record, '*' -> header, '+' -> the grace after a loss of state, only while it lasts; names that
--             can't be a member's id are reserved for later fields
--   line      sorted set, QUEUE below: waiting members by the arrival of their oldest waiter
--   leases    sorted set: members by a lower bound of the end of their lease; the record has the exact time
--   tombs     likewise: members that have returned everything, whose sequence is stored for a while (tombstones)
--   override  the limit of an operator; the only one that stays when the key is not in use
--
-- In a cluster all of them exist as long as the state: each set has a placeholder, which is no member and the last of its set, and
-- -1 means no override. While a slot is being moved to another node, Redis refuses a script of which one key is missing, although
-- no key of the permit has moved yet.
--
-- Times are microseconds of the server's clock. Times, versions and sequences are doubles, exact up to 2^53. Every value has
-- at most 64 bytes, so that Redis stores a small hash in its compact form.
--
-- The header begins with the mark, the format of its newest writer and the minimum reader (see docs/compatibility.md). Since
-- format 2 it may end with the epoch of the server that has written it and the time when that was last checked (neither, if it
-- is unknown, as without a grace), and with the highest limit that a queued member states, only while they state different ones. The
-- minimum reader is 2 during a grace, which format 1 does not know. The fast path leaves both kinds of keys alone. A
-- record ends with two bytes, one that says whether the member is queued (1) and missed (2, see grant_in_order in serve.lua), and
-- one with the format of its last writer; and since format 2 with two bytes for the calls that wait in a queued member
-- besides those that `wanted` covers, unless there are none. Newer formats add bytes at the end of both. This script keeps bytes that it
-- does not know, and never lowers the format or the minimum reader of a header.
--
-- Every execution creates all functions and all variables that functions share, which costs more than most of them do. So
-- the shared variables are fields of one table, and functions that only some executions need are created by those (see
-- prepare in serve.lua).

local KEYS, ARGV, time, found = ... -- the last two, if the caller has read them already
local STATE, QUEUE, LEASES, TOMBS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
-- The format is also in claims.lua and queued.lua, in STAMP and in what they write for the last writer and into notifications, and
-- in the class ClaimCodec.
local MARK, FORMAT, MINIMUM_READER, GRACE_READER = 'DP', 2, 1, 2
local HEADER_PACKING, HEADER_LENGTH, FIRST_HEADER_LENGTH, MIXED_HEADER_LENGTH = '<c2BBI4I4i4ddddI4d', 60, 48, 64
local GRACE_PACKING, GRACE_LENGTH = '<ddI4', 20
local RECORD_PACKING, RECORD_LENGTH, QUEUED_LENGTH = '<I4I4I4I4I4dddddBB', 62, 64
local call = redis.call
time = time or call('TIME')

local op = {
  now = time[1] * 1000000 + time[2],
  format = FORMAT, reader = MINIMUM_READER,       -- fields of the header, as are:
  used = 0, queued = 0, override = -1, version = 0,
  lease = math.huge, tomb = math.huge,            -- lower bounds of the scores in `leases` and `tombs`
  life = 0,                                       -- when the key expires
  epoch = 0, checked = 0,                         -- of the server that has written the key, and when this was checked
  highest = 0,                                    -- no limit of a queued member is higher; 0: all state the same
  graced = false,                                 -- whether a grace is stored
  grace = false,                                  -- since when, until when, and how many permits came back
  tail = '',                                      -- bytes that a newer format has added
  records = {},                                   -- by member; false: it has none
  changed = {},                                   -- records to be written at the end
  to_expire = {},                                 -- names whose expiry is set at the end
  head = false,                                   -- the head of the queue, if it was determined
  leaving = false,                                -- a member to remove from the queue at the end
  served = false,                                 -- members to be notified at the end, if there are any
  claimer = false,                                -- the member that claims
  expired = false,                                -- members with permits whose leases have ended: the first one, and sums
  refused = false,                                -- an error to be returned after all is written
  written = false,                                -- whether this execution has written anything
  writes_without_memory = false,                  -- whether to write although the server is out of memory
  clustered = false,
  fresh = false,                                  -- the key has no state
  orphaned = false,                               -- it has no state, but sets of a state that was lost
}

-- Unpacks a record.
local function decode(packed)
  local permits, wanted, weight_of_head, least, own, sequence, version, expiry, lease, tomb, waiting =
    struct.unpack(RECORD_PACKING, packed)
  return { permits = permits, wanted = wanted, weight_of_head = weight_of_head, least = least, limit = own, sequence = sequence,
    version = version, expiry = expiry, lease = lease, tomb = tomb, waiting = waiting % 2 == 1, missed = waiting >= 2,
    waiting_beyond_wanted = #packed >= QUEUED_LENGTH and struct.unpack('<I2', packed, RECORD_LENGTH + 1) or 0,
    tail = #packed > QUEUED_LENGTH and string.sub(packed, QUEUED_LENGTH + 1) or '' }
end

-- Reads the header, and the record of one member if a member is given. Returns an error reply for a key of a newer format or
-- of another application, or nothing.
local function load(member)
  found = found or call('HMGET', STATE, '*', member or '*')
  local packed = found[1]
  local first, second, format, reader = string.byte(packed or '', 1, 4)
  local ours = reader and first == 68 and second == 80 -- the mark
  if ours and reader > FORMAT then
    return redis.error_reply(string.format('DPNEWER %d %d %d %s', format, reader, FORMAT, STATE))
  end
  if ours and #packed >= FIRST_HEADER_LENGTH then
    if #packed < HEADER_LENGTH then
      packed = string.sub(packed, 1, FIRST_HEADER_LENGTH) .. string.rep('\0', HEADER_LENGTH - FIRST_HEADER_LENGTH)
    end
    local _
    _, _, _, op.used, op.queued, op.override, op.version, op.lease, op.tomb, op.life, op.epoch, op.checked =
      struct.unpack(HEADER_PACKING, packed)
    op.format = format > FORMAT and format or FORMAT
    op.reader = format > FORMAT and reader or MINIMUM_READER
    if reader >= GRACE_READER then
      local kept = call('HGET', STATE, '+')
      if kept and #kept >= GRACE_LENGTH then
        local start, over, pool = struct.unpack(GRACE_PACKING, kept)
        op.graced = true
        if start > op.now then -- the clock was set back: the grace begins anew, because it would last longer otherwise
          start, over = op.now, op.now + over - start
        end
        op.grace = over > op.now and { start = start, over = over, pool = pool,
          tail = string.sub(kept, GRACE_LENGTH + 1) }
      end
    end
    if #packed >= MIXED_HEADER_LENGTH then
      op.highest = struct.unpack('<I4', packed, HEADER_LENGTH + 1)
    end
    op.tail = string.sub(packed, MIXED_HEADER_LENGTH + 1)
    if member then
      op.records[member] = found[2] and decode(found[2]) or false
    end
    return
  end

  -- There is no state of this library. Values of another application must not be overwritten.
  local function foreign(key)
    return redis.error_reply('DPFOREIGN ' .. key .. ' holds something that is not ours')
  end
  if packed or call('EXISTS', STATE) == 1 then
    return foreign(STATE)
  end
  if call('EXISTS', QUEUE, LEASES, TOMBS) > 0 then
    for i = 2, 4 do
      local kind = call('TYPE', KEYS[i]).ok
      if kind ~= 'zset' and kind ~= 'none' then
        return foreign(KEYS[i])
      end
    end
    op.orphaned = true
  end
  local override = call('GET', KEYS[5])
  local limit = string.match(override or '-1', '^(-?%d+)$') or string.match(override or '', '^(%d+);')
  if not limit then
    return foreign(KEYS[5])
  end
  op.override = tonumber(limit)
  op.fresh = true
end
