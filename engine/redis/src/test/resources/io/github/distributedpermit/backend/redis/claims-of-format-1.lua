-- The claims of format 1, as members of that version execute them: for tests of older beside newer. Never change this file.
local function claim_slow_path(...)
-- The state of a key, which all operations share: its names, its format and how it is read. The class Script puts this file
-- in front of the file of each operation; both together are the body of one function.
--
-- KEYS: state, line, leases, tombs, override. All are in one hash slot.
--   state     hash: member -> record, '*' -> header; names that can't be a member's id are reserved for later fields
--   line      sorted set, the queue: waiting members by the arrival of their oldest waiter
--   leases    sorted set: members by a lower bound of the end of their lease; the record has the exact time
--   tombs     likewise: members that have returned everything, whose sequence is stored for a while (tombstones)
--   override  the limit of an operator; the only one that stays when the key is not in use
--
-- Times are microseconds of the server's clock. Times, versions and sequences are doubles, exact up to 2^53. Every value is
-- shorter than 64 bytes, so that Redis stores a small hash in its compact form.
--
-- The header begins with the mark, the format of its newest writer and the minimum reader (see docs/compatibility.md). A
-- record ends with the format of its last writer. Newer formats add bytes at the end of both. This script keeps bytes that it
-- does not know, and never lowers the format or the minimum reader of a header.
--
-- Every execution creates all functions and all variables that functions share, which costs more than most of them do. So
-- the shared variables are fields of one table, and functions that only some executions need are created by those (see
-- prepare in serve.lua).

local KEYS, ARGV, time, found = ... -- the last two, if the caller has read them already
local STATE, QUEUE, LEASES, TOMBS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local MARK, FORMAT, MINIMUM_READER = 'DP', 1, 1
local HEADER_PACKING, HEADER_LENGTH = '<c2BBI4I4i4dddd', 48
local RECORD_PACKING, RECORD_LENGTH = '<I4I4I4I4I4dddddBB', 62
local call = redis.call
time = time or call('TIME')

local op = {
  now = time[1] * 1000000 + time[2],
  format = FORMAT, reader = MINIMUM_READER,       -- fields of the header, as are:
  used = 0, queued = 0, override = -1, version = 0,
  lease = math.huge, tomb = math.huge,            -- lower bounds of the scores in `leases` and `tombs`
  life = 0,                                       -- when the key expires
  tail = '',                                      -- bytes that a newer format has added
  records = {},                                   -- by member; false: it has none
  changed = {},                                   -- records to be written at the end
  to_expire = {},                                 -- names whose expiry is set at the end
  head = false,                                   -- the head of the queue, if it was determined
  leaving = false,                                -- a member to remove from the queue at the end
  served = false,                                 -- members to be notified at the end, if there are any
  refused = false,                                -- an error to be returned after all is written
  written = false,                                -- whether this execution has written anything
  lenient = false,                                -- whether to write although the server is out of memory
  clustered = false,
  fresh = false,                                  -- the key has no state
  orphaned = false,                               -- it has no state, but sets of a state that was lost
}

-- Unpacks a record.
local function decode(packed)
  local permits, wanted, unit, least, own, sequence, version, expiry, lease, tomb, waiting =
    struct.unpack(RECORD_PACKING, packed)
  return { permits = permits, wanted = wanted, unit = unit, least = least, limit = own, sequence = sequence,
    version = version, expiry = expiry, lease = lease, tomb = tomb, waiting = waiting == 1,
    tail = #packed > RECORD_LENGTH and string.sub(packed, RECORD_LENGTH + 1) or '' }
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
  if ours and #packed >= HEADER_LENGTH then
    local _
    _, _, _, op.used, op.queued, op.override, op.version, op.lease, op.tomb, op.life = struct.unpack(HEADER_PACKING, packed)
    op.format = format > FORMAT and format or FORMAT
    op.reader = reader > MINIMUM_READER and reader or MINIMUM_READER
    op.tail = #packed > HEADER_LENGTH and string.sub(packed, HEADER_LENGTH + 1) or ''
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
  if override and not tonumber(override) then
    return foreign(KEYS[5])
  end
  op.override = tonumber(override or -1)
  op.fresh = true
end
-- The step of the protocol, as far as the operations that change a key share it: writing, growing, expiring, serving. Follows
-- common.lua. The same step in Java is spi.step.KeyTable (docs/decisions/0013-three-forms-of-the-step.md).

-- Executes a command that needs memory. Redis refuses such a command, when it is out of memory, only as the first write of an
-- execution, and never refuses a removal. So a return or a renewal removes nothing first and then writes, and a new grant
-- fails with everything unchanged.
local function write(...)
  if not op.written then
    local reply = redis.pcall(...)
    op.written = true
    if type(reply) ~= 'table' or not reply.err then
      return
    end
    if op.lenient and string.find(reply.err, 'OOM', 1, true) then
      call('HDEL', STATE, '')
    end
  end
  call(...)
end

-- The limit in effect for a member.
local function limit(r)
  return op.override >= 0 and op.override or r.limit
end

-- The next version: never below the clock, so that it also grows after the key was lost.
local function tick()
  op.version = math.max(op.version + 1, op.now)
  return op.version
end

-- Whether the unit of a member is above the limit. Such a member must not block the others. A limit of 0 is a pause: then all
-- members stay in the queue.
local function can_never_fit(r)
  return limit(r) > 0 and limit(r) < r.unit
end

-- Grants a member as much as fits, if that is at least its oldest waiter. Returns whether it granted anything.
local function grow(r)
  local target = math.min(r.wanted, r.permits + limit(r) - op.used)
  if target <= r.permits or target < r.least then
    return false
  end
  op.used = op.used + target - r.permits
  r.permits = target
  r.version = tick()
  return true
end

-- Packs the record of a member as the member sees it. Only the head of the queue gets the time of the next re-check, so that
-- not all waiting members claim again when a lease ends.
local function view(member, r)
  local most = limit(r)
  local others = op.queued - (r.waiting and 1 or 0)
  local flags = (others > 0 and 1 or 0) + (op.used > most and 2 or 0)
  local recheck = -1
  if r.waiting and member == op.head and op.lease < math.huge then
    recheck = math.max(op.lease - op.now, 0) + 1000
  end
  return struct.pack('<I4I4dddB', r.permits, most, r.sequence, r.version, recheck, flags)
end

local prefix, key

-- The channel of a member; its prefix is that of the names of this key.
local function channel(member)
  if not prefix then
    prefix, key = string.match(STATE, '^(.*):{(.*)}:state$')
  end
  return prefix .. ':member:' .. member
end

-- Notifies the served members. Runs after everything is written, so that an error leaves no notification of a grant that is
-- not stored.
local function notify()
  for _, member in ipairs(op.served) do
    local packed, to = view(member, op.records[member]), channel(member)
    call('PUBLISH', to, struct.pack('<c1BBB', 'G', FORMAT, MINIMUM_READER, #packed) .. packed .. key)
  end
end

-- Writes what has changed, then notifies. Writes in parts, because a long queue may be served at once and a command takes a
-- bounded number of values.
local function flush()
  local header = struct.pack(HEADER_PACKING, MARK, op.format, op.reader, op.used, op.queued, op.override, op.version,
    op.lease, op.tomb, op.life)
  local fields = { '*', header .. op.tail }
  for member, r in pairs(op.changed) do
    fields[#fields + 1] = member
    fields[#fields + 1] = struct.pack(RECORD_PACKING, r.permits, r.wanted, r.unit, r.least, r.limit, r.sequence,
      r.version, r.expiry, r.lease, r.tomb, r.waiting and 1 or 0, FORMAT) .. r.tail
    if #fields > 1000 then
      write('HSET', STATE, unpack(fields))
      fields = {}
    end
  end
  if #fields > 0 then
    write('HSET', STATE, unpack(fields))
  end
  if op.leaving then
    call('ZREM', QUEUE, op.leaving)
  end
  for i = 1, #op.to_expire do
    call('PEXPIREAT', op.to_expire[i], math.ceil(op.life / 1000) + 1)
  end
  if op.served then
    notify()
  end
end

local drop, expire, serve

-- Creates the functions for executions that find a queue or expired records; the others do not pay for them.
local function prepare()
  -- The record of a member, or false. Reads each record once.
  local function record(member)
    local r = op.records[member]
    if r == nil then
      local packed = call('HGET', STATE, member)
      r = packed and decode(packed) or false
      op.records[member] = r
    end
    return r
  end

  -- Removes a member from the state or from a set.
  local function remove(key, member)
    call(key == STATE and 'HDEL' or 'ZREM', key, member)
    op.written = true
  end

  -- Removes nothing: after it, Redis refuses no write for lack of memory, see write().
  local function allow_writes()
    if not op.written then
      remove(STATE, '')
    end
  end

  -- Removes a record and its entries in all sets.
  drop = function(member, r)
    op.used = op.used - r.permits
    if r.waiting then
      remove(QUEUE, member)
      op.queued = op.queued - 1
    end
    if r.lease > 0 then
      remove(LEASES, member)
    end
    if r.tomb > 0 then
      remove(TOMBS, member)
    end
    remove(STATE, member)
    op.records[member] = false
    op.changed[member] = nil
  end

  -- Whether a record belongs into `leases`. Each record is in `leases` or in `tombs`, otherwise it would never expire.
  local function leased(r)
    return r.permits > 0 or r.waiting or r.tomb == 0
  end

  -- Whether a record belongs into `tombs`.
  local function remembered(r)
    return r.lease == 0 or not leased(r)
  end

  -- Examines a member whose bound in `leases` or `tombs` has passed: its record has expired, or gets a new bound, or belongs
  -- into the other set.
  local function review(set, field, belongs, member)
    local r = record(member)
    if not r then
      remove(set, member)
    elseif r.expiry <= op.now then
      drop(member, r)
    else
      allow_writes()
      if belongs(r) then
        call('ZADD', set, r.expiry, member)
        r[field] = r.expiry
      else
        remove(set, member)
        r[field] = 0
      end
      op.changed[member] = r
    end
  end

  -- Reviews the members of a set whose bound has passed, at most so many. Returns how many.
  local function collect(set, field, belongs, most)
    local due = call('ZRANGEBYSCORE', set, '-inf', op.now, 'LIMIT', 0, most)
    for i = 1, #due do
      review(set, field, belongs, due[i])
    end
    op[field] = tonumber(call('ZRANGE', set, 0, 0, 'WITHSCORES')[2] or math.huge)
    return #due
  end

  -- Removes expired records. Their number is bounded for each execution: a later execution removes the others, whose permits
  -- are free a little later.
  expire = function()
    local left = 1000
    while op.lease <= op.now and left > 0 do
      left = left - math.max(collect(LEASES, 'lease', leased, 100), 1)
    end
    if op.tomb <= op.now then
      collect(TOMBS, 'tomb', remembered, 16)
    end
  end

  -- Whether the member is subscribed on this server. Checked before a grant, because a notification can't be withdrawn:
  -- PUBLISH is replicated, and a subscriber of a replica receives it. In a cluster the subscribers of other nodes can't be
  -- counted; there each grant stands.
  local function subscribed(member)
    if op.clustered then
      return true
    end
    local count = redis.pcall('PUBSUB', 'NUMSUB', channel(member))
    if count.err then
      op.refused = count -- returned after everything is written: an error here would leave half of it unwritten
      return false
    end
    return count[2] > 0
  end

  -- Grants to the members of the queue, from its head, in memory. Returns the members that were granted something. A member
  -- other than the claimer that can't be notified is removed from the queue without a grant; its next claim adds it again.
  local function grant_in_order(claimer)
    local served, position, size = {}, 0, op.queued
    op.head = false
    while position < size do
      local member = call('ZRANGE', QUEUE, position, position)[1]
      local r = member and record(member)
      if not member then
        op.queued = op.queued - (size - position)
        size = position
      elseif not r then
        remove(QUEUE, member)
        op.queued = op.queued - 1
        size = size - 1
      elseif r.expiry <= op.now then
        drop(member, r)
        size = size - 1
      elseif can_never_fit(r) then
        op.head = op.head or member
        position = position + 1
      else
        local before = r.permits
        if not grow(r) then
          op.head = op.head or member
          break -- strict order: no member passes a head that will fit later
        end
        op.changed[member] = r
        if member ~= claimer and not subscribed(member) then
          op.used = op.used - (r.permits - before)
          r.permits = before
          r.waiting = false
          remove(QUEUE, member)
          op.queued = op.queued - 1
          size = size - 1
        else
          served[#served + 1] = member
          if r.permits < r.wanted then
            op.head = op.head or member
            break -- a partly served member keeps its position
          end
          r.waiting = false
          op.queued = op.queued - 1
          position = position + 1
        end
      end
    end
    return served
  end

  -- Serves the queue. The served members are notified at the end, except the claimer, which gets an answer.
  serve = function(claimer)
    for _, member in ipairs(grant_in_order(claimer)) do
      if not op.records[member].waiting then
        remove(QUEUE, member)
      end
      if member ~= claimer then
        allow_writes() -- a grant is stored although the server is out of memory
        op.served = op.served or {}
        op.served[#op.served + 1] = member
      end
    end
  end
end
-- The claim of a member: "leave me `held` of the permits I have; I want `wanted` in total". Follows serve.lua; the three files
-- are the function claim_slow_path, which handles every claim.
--
-- ARGV: the member, the packed claim. Returns the packed view of the member's record.

local member = ARGV[1]
local own, held, wanted, unit, flags, sequence, waited, lease, tombstone = struct.unpack('<I4I4I4I4Bdddd', ARGV[2])
local queue = flags % 2 == 1
local now = op.now
op.clustered = flags >= 2

local refused = load(member)
if refused then
  return refused
end
local r = op.records[member]
if op.queued > 0 or op.lease <= now or op.tomb <= now or (r and r.expiry <= now) then
  prepare()
  expire()
  r = op.records[member]
  if r and r.expiry <= now then
    drop(member, r)
    r = false
  end
end

if r and sequence <= r.sequence then
  if op.queued > 0 then
    serve(member)
  end
  if op.written or next(op.changed) then
    op.lenient = true
    flush()
  end
  return op.refused or view(member, r)
end

local newcomer = not r
if newcomer then
  r = { permits = 0, wanted = 0, unit = 0, least = 0, limit = 0, sequence = 0, version = 0, expiry = 0, lease = 0, tomb = 0,
    waiting = false, tail = '' }
  op.records[member] = r
end
op.lenient = r.permits > 0 or wanted == 0
if op.orphaned then
  call('DEL', QUEUE, LEASES, TOMBS)
end

local was_queued = r.waiting
local others = op.queued - (was_queued and 1 or 0)
local base = math.min(r.permits, held, wanted)
op.used = op.used - (r.permits - base)
r.permits, r.wanted, r.unit, r.least, r.limit, r.sequence = base, wanted, unit, base + unit, own, sequence
r.version = tick()
r.expiry = now + lease
r.waiting = queue and wanted > base
op.queued = others + (r.waiting and 1 or 0)
op.changed[member] = r

if others == 0 then
  -- no other member waits: the queue is written only if this member has to wait
  if r.waiting and not can_never_fit(r) and grow(r) and r.permits == wanted then
    r.waiting = false
    op.queued = 0
  end
  op.head = r.waiting and member
  op.leaving = was_queued and not r.waiting and member
end
if r.waiting then
  write('ZADD', QUEUE, now - waited, member)
  if others == 0 and not was_queued then
    op.to_expire[1] = QUEUE
  end
end
if others > 0 then
  if was_queued and not r.waiting then
    call('ZREM', QUEUE, member)
    op.written = true
  end
  serve(member)
end
if not queue and wanted > base and op.queued == 0 then
  grow(r) -- a try gets only permits that no queued member waits for
end

local set, field = LEASES, 'lease'
if r.permits == 0 and not r.waiting then
  set, field = TOMBS, 'tomb'
  r.expiry = now + tombstone
end
if r[field] == 0 or r[field] > r.expiry then -- the stored bound is still a lower bound
  write('ZADD', set, r.expiry, member)
  if r[field] == 0 then
    op.to_expire[#op.to_expire + 1] = set
  end
  r[field] = r.expiry
  op[field] = math.min(op[field], r.expiry)
end

-- The key expires after its records, and soon after them when it is not in use. While it is in use, its expiry covers several
-- renewals, so that most renewals do not write it.
local lasts = r.expiry - now
if op.used == 0 and op.queued == 0 then
  if r.expiry > op.life or op.life > r.expiry + lasts / 4 then
    op.life = r.expiry + lasts / 8
    op.to_expire = { STATE, QUEUE, LEASES, TOMBS }
  end
elseif r.expiry > op.life then
  op.life = r.expiry + math.min(4 * lasts, math.max(lasts / 8, 60000000))
  op.to_expire = { STATE, QUEUE, LEASES, TOMBS }
end

-- Redis stores a small hash as a list, which it searches from the start. From 32 members on a hash table is faster; a field
-- that is too long for the list makes Redis convert the hash.
if newcomer and call('HLEN', STATE) == 32 then
  local long = string.rep('-', 65)
  write('HSET', STATE, long, '')
  call('HDEL', STATE, long)
end

flush()
return op.refused or view(member, r)
end
-- The claims of one member, of one key or of many, in one execution: the fast path. It handles the usual claim itself: the
-- member has a record, no member waits, no record has expired, the permits are available, and the key has the format of this
-- script. Every other claim goes to the function claim_slow_path (common.lua, serve.lua, claim.lua), which handles all. For
-- the usual claim both have the same effect; the fast path takes less than half the time, because it creates no function and
-- hardly a table (docs/decisions/0013-three-forms-of-the-step.md).
--
-- KEYS: for each claim the five that common.lua names. ARGV: the member, then the packed claims, one after the other.
-- Returns the packed views of the member's records in the same way.

local HEADER, HEADER_LENGTH, STAMP = '<I4I4I4i4dddd', 48, 0x01015044 -- mark, format, minimum reader
local RECORD, RECORD_LENGTH, FORMAT = '<I4I4I4I4I4dddddI2', 62, 0x0100 -- not waiting, format of the last writer
local CLAIM, CLAIM_LENGTH = '<I4I4I4I4Bdddd', 49
local call, pcall, pack, unpack = redis.call, redis.pcall, struct.pack, struct.unpack
local member, claims = ARGV[1], ARGV[2]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
if #claims ~= CLAIM_LENGTH * #KEYS / 5 then
  return redis.error_reply('DPCLAIM the claims are not of the version of this script')
end

local first, views
for i = 1, #KEYS / 5 do
  local at, from = 5 * i - 4, CLAIM_LENGTH * (i - 1) + 1
  local state = KEYS[at]
  local found = call('HMGET', state, '*', member)
  local view
  repeat -- runs once; a break leaves the claim to the slow path
    if not found[1] or not found[2] or #found[1] ~= HEADER_LENGTH or #found[2] ~= RECORD_LENGTH then
      break
    end
    local stamp, used, queued, override, version, first_lease, first_tomb, life = unpack(HEADER, found[1])
    if stamp ~= STAMP or queued > 0 or first_lease <= now or first_tomb <= now then
      break
    end
    local permits, _, _, _, _, last, _, expiry, leased, tombstoned = unpack(RECORD, found[2])
    local own, held, wanted, unit, flags, sequence, _, lease, tombstone = unpack(CLAIM, claims, from)
    if sequence <= last or expiry <= now then
      break
    end

    local base = permits
    if held < base then
      base = held
    end
    if wanted < base then
      base = wanted
    end
    used = used - permits + base
    permits = base
    version = version < now and now or version + 1
    local limit = override >= 0 and override or own
    if wanted > base then
      local target = base + limit - used
      if target >= wanted then
        target = wanted
      end
      if target > base and target >= base + unit then
        used = used - base + target
        permits = target
        version = version + 1
      end
      if permits < wanted and flags % 2 == 1 then
        break -- the member has to wait
      end
    end

    local listed, lasts = leased, lease
    if permits == 0 then
      listed, lasts = tombstoned, tombstone
    end
    expiry = now + lasts
    if listed == 0 or listed > expiry or (used == 0 and life > expiry + lasts / 4) then
      break
    end
    if permits > 0 and leased < now + lease * 0.4 then -- moves the bound before it passes, when another claim would have to examine it
      if pcall('ZADD', KEYS[at + 2], expiry, member) ~= 0 then
        break
      end
      if first_lease == leased then
        first_lease = tonumber(call('ZRANGE', KEYS[at + 2], 0, 0, 'WITHSCORES')[2])
      end
      leased = expiry
    end
    local lives_longer = expiry > life
    if lives_longer then
      life = expiry + (used == 0 and lasts / 8 or math.min(4 * lasts, math.max(lasts / 8, 60000000))) -- as in claim.lua
    end
    local added = pcall('HSET', state,
      '*', pack(HEADER, STAMP, used, 0, override, version, first_lease, first_tomb, life),
      member, pack(RECORD, permits, wanted, unit, base + unit, own, sequence, version, expiry, leased, tombstoned, FORMAT))
    if added == 0 then
      for k = at, lives_longer and at + 3 or 0 do
        call('PEXPIREAT', KEYS[k], math.ceil(life / 1000) + 1)
      end
      view = pack('<I4I4dddB', permits, limit, sequence, version, -1, used > limit and 2 or 0)
    end
  until true

  view = view
    or claim_slow_path({ state, KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4] },
      { member, string.sub(claims, from, from + CLAIM_LENGTH - 1) }, time, found)
  if view.err then
    return view -- earlier claims of this execution are stored; repeating them changes nothing
  end
  if first then
    views = views or { first }
    views[i] = view
  else
    first = view
  end
end
return views and table.concat(views) or first
