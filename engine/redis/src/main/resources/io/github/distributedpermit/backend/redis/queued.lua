-- A claim of a key for which members wait, or for which its member has to wait: the second part of the fast path. It is the body of
-- the function claim_in_queue and handles what passes a permit from one member to another: the claim that returns permits and
-- serves the head of the queue, and the claim that joins the queue. It computes everything first and writes at the end, so that
-- it can leave a claim to the slow path at any point before: then it returns nothing and has changed nothing.
--
-- claims.lua calls it after its checks: the header and the record have the format of this script, the claim is newer than the last
-- one, no bound of a lease has passed, and the server is the one that has written the key, which is not in grace. It leaves to the
-- slow path: members that are not subscribed or are missed, have expired or want more than the limit, members with the same
-- arrival, queues whose members state different limits, tries that find permits free although members wait, and bounds or
-- expiries that have to be written anew. Both have the same effect as spi.step.KeyTable
-- (docs/decisions/0013-three-forms-of-the-step.md).
--
-- Arguments: the position of the key's names in KEYS, the member, its packed claim and its record, the header, the time of the
-- server, and when the epoch was checked. Returns the packed view of the member's record, or nothing.

local at, member, claim, record, header, now, checked = ...
local call, pack, unpack_from = redis.call, struct.pack, struct.unpack
local SHORT_HEADER, HEADER, HEADER_LENGTH, STAMP = '<I4I4I4i4dddd', '<I4I4I4i4ddddI4d', 60, 0x01025044 -- as in claims.lua
local RECORD, SHORT_RECORD, LONG_RECORD = '<I4I4I4I4I4dddddI2', 62, 64
local IDLE, WAITING = 0x0200, 0x0201 -- the format of the last writer, and whether the member waits; neither is missed
local GRANT_HEAD = '<c1BBB'
local MOST_SERVED = 100

local state, queue = KEYS[at], KEYS[at + 1]
local layout = #header == HEADER_LENGTH and HEADER or SHORT_HEADER
local _, used, queued, override, version, first_lease, first_tomb, life, epoch = unpack_from(layout, header)
if layout == SHORT_HEADER then
  epoch = 0
end
local permits, _, _, _, before, _, _, _, leased, tombstoned, mark = unpack_from(RECORD, record)
local was_queued = mark % 256 == 1
local own, held, wanted, weight_of_head, flags, sequence, waited, lease, tombstone, _, _, waiting_beyond_wanted =
  unpack_from('<I4I4I4I4BdddI4I4I4I4', claim)
local queues, clustered = flags % 2 == 1, flags % 4 >= 2
if mark % 256 > 1 or (#record ~= SHORT_RECORD and not (was_queued and #record == LONG_RECORD)) then
  return
end

local limit = override < 0 and own or override
local base = math.min(permits, held, wanted)
used = used + base - permits
version = math.max(version + 1, now)
permits = base
local claimed_version, waiting, score = version, queues and wanted > base, now - waited
if waiting and limit > 0 and weight_of_head > limit then
  return
end

-- Grants the claimer what fits, if that is at least its oldest waiter.
local function grow()
  local most = math.min(wanted, permits + limit - used)
  if most > permits and most >= base + weight_of_head then
    used, permits, version = used + most - permits, most, version + 1
    claimed_version = version
  end
end

-- Serves the queue from its head, and the claimer at its place among the others if it waits. `head` is the member that comes next.
local others = queued - (was_queued and 1 or 0)
local position, left, head, served = 0, others, false, nil
local due = waiting -- whether the turn of the claimer is still to come
local compares = waiting and not (was_queued and before == own) -- whether all others may state another limit than the claimer
while others > 0 or due do
  local name, arrived
  if others > 0 then
    local entry = call('ZRANGE', queue, position, position, 'WITHSCORES')
    if entry[1] ~= '' then -- the placeholder of a cluster
      name, arrived = entry[1], tonumber(entry[2])
    end
  end
  if name == member and was_queued then -- its entry from before this claim
    position = position + 1
  elseif name == member or (not name and left ~= 0) then
    return -- the header and the set disagree
  elseif due and (not name or score < arrived) then
    due = false
    grow()
    if permits < wanted then
      local behind = compares and name and call('HGET', state, name)
      if compares and name and (not behind or select(5, unpack_from(RECORD, behind)) ~= own) then
        return
      end
      head = member
      break -- none behind it states a higher limit
    end
    waiting = false
  elseif not name then
    break
  elseif due and score == arrived then
    return -- the set sorts them by name
  else
    local packed = call('HGET', state, name)
    if not packed or (#packed ~= SHORT_RECORD and #packed ~= LONG_RECORD) then
      return
    end
    local has, wants, weight, least, stated, last, _, expiry, in_leases, in_tombs, kind = unpack_from(RECORD, packed)
    local most = override < 0 and stated or override
    if compares and stated ~= own then
      return
    end
    compares = false -- all others state the same as this one
    if kind % 256 ~= 1 or expiry <= now or (most > 0 and weight > most) then -- expired: a bound would have passed before
      return
    end
    local target = math.min(wants, has + most - used)
    if target <= has or target < least then
      head = name
      break
    end
    if not served then
      served = { prefix = string.match(state, '^(.*):{.*}:state$'), key = string.match(state, '{(.*)}:state$') }
    end
    local channel = served.prefix .. ':member:' .. name
    if not clustered then -- in a cluster the subscribers of other nodes can't be counted
      local count = redis.pcall('PUBSUB', 'NUMSUB', channel)
      if count.err or count[2] == 0 then
        return
      end
    end
    if #served == MOST_SERVED then
      return
    end
    used, version = used + target - has, version + 1
    local partly = target < wants
    local tail = partly and #packed == LONG_RECORD and string.sub(packed, SHORT_RECORD + 1) or ''
    served[#served + 1] = { name = name, channel = channel, permits = target, limit = most, sequence = last,
      version = version, waiting = partly,
      record = pack(RECORD, target, wants, weight, least, stated, last, version, expiry, in_leases, in_tombs,
        partly and WAITING or IDLE) .. tail }
    if partly then
      head = name
      break -- a partly served member keeps its position
    end
    left = left - 1
    position = position + 1
  end
end
queued = left + (waiting and 1 or 0)
if not queues and wanted > base then
  if queued > 0 and used < limit then
    return -- the queue may leave permits to it
  end
  grow() -- a try gets only permits that the queue leaves
end

-- The lease of the claimer, and the life of the key, as in claim.lua.
local listed, lasts = leased, lease
if permits == 0 and not waiting then
  listed, lasts = tombstoned, tombstone * 1000
end
local expiry = now + lasts
if listed == 0 or listed > expiry or (used == 0 and queued == 0) then
  return
end
local lives_longer = expiry > life
if lives_longer then
  life = expiry + math.min(4 * lasts, math.max(lasts / 8, 60000000))
end

local packed_record = pack(RECORD, permits, wanted, weight_of_head, base + weight_of_head, own, sequence, claimed_version, expiry, leased, tombstoned,
  waiting and WAITING or IDLE)
if waiting and waiting_beyond_wanted > 0 then
  packed_record = packed_record .. pack('<I2', waiting_beyond_wanted)
end
local new_header = pack(layout, STAMP, used, queued, override, version, first_lease, first_tomb, life, epoch, checked)
local added
if served then
  local fields = { '*', new_header, member, packed_record }
  for i = 1, #served do
    fields[#fields + 1] = served[i].name
    fields[#fields + 1] = served[i].record
  end
  added = redis.pcall('HSET', state, unpack(fields))
else
  added = redis.pcall('HSET', state, '*', new_header, member, packed_record)
end
if added ~= 0 then
  return -- Redis is out of memory and has refused it; the slow path writes what it must
end
if waiting then
  call('ZADD', queue, score, member)
elseif was_queued then
  call('ZREM', queue, member)
end
if lives_longer then
  for i = at, clustered and override < 0 and at + 4 or at + 3 do
    call('PEXPIREAT', KEYS[i], math.ceil(life / 1000) + 1)
  end
elseif waiting and others == 0 and not was_queued then
  call('PEXPIREAT', queue, math.ceil(life / 1000) + 1)
end

-- The view of a member, as in serve.lua.
local function view(holds, most, of, at_version, waits, is_head)
  local flags_of = (queued - (waits and 1 or 0) > 0 and 1 or 0) + (used > most and 2 or 0)
  local recheck = is_head and first_lease < math.huge and first_lease - now + 1000 or -1
  return pack('<I4I4dddBI4', holds, most, of, at_version, recheck, flags_of, epoch)
end

for i = 1, served and #served or 0 do
  local s = served[i]
  if not s.waiting then
    call('ZREM', queue, s.name)
  end
end
for i = 1, served and #served or 0 do
  local s = served[i]
  local packed = view(s.permits, s.limit, s.sequence, s.version, s.waiting, s.name == head)
  call('PUBLISH', s.channel, pack(GRANT_HEAD, 'G', 2, 1, #packed) .. packed .. served.key)
end
return view(permits, limit, sequence, claimed_version, waiting, head == member)
