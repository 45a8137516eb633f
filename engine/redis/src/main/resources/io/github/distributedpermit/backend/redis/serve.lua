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
    if op.writes_without_memory and string.find(reply.err, 'OOM', 1, true) then
      call('HDEL', STATE, '')
    end
  end
  call(...)
end

-- The limit in effect for a member.
local function limit(r)
  return op.override >= 0 and op.override or r.limit
end

-- A section of INFO; nothing if the user of the connection may not run it.
local function info(section)
  local found = redis.pcall('INFO', section)
  return type(found) == 'string' and found or ''
end

-- The epoch of this server: the first 8 digits of its replication id, which changes with every start and every promotion, the
-- lower half mixed with the salt of a lineage (lineage.lua). 0 if the server does not say.
local function server_epoch(salt)
  local found = info('replication')
  local _, last = string.find(found, 'master_replid:', 1, true)
  local own = last and tonumber(string.sub(found, last + 1, last + 8), 16) or 0
  return own == 0 and 0 or math.max(1, own - own % 65536 + (own + salt) % 65536)
end

-- Whether the server has written the key itself. Otherwise state may be lost, and no member may be served before a claim has
-- examined that. The same holds for a server that was closed as a former master, also after it was opened again.
local function is_own()
  local epoch = op.epoch ~= 0 and server_epoch(0) or 0
  if epoch == 0 then
    return true
  end
  local lineage = KEYS[6] and call('GET', KEYS[6])
  local closed = lineage and #lineage >= 8 and struct.unpack('<I4', lineage, 5)
  return epoch - epoch % 65536 == op.epoch - op.epoch % 65536 and closed ~= op.epoch -- the other half depends on the salt
end

-- The most permits in use that a grant under a limit may lead to: during a grace those that members have reclaimed.
local function cap(most)
  return op.grace and math.min(most, op.grace.pool) or most
end

-- Whether so many more permits may be in use under a limit.
local function fits(permits, most)
  return permits <= cap(most) - op.used
end

-- The next version: never below the clock, so that it also grows after the key was lost.
local function tick()
  op.version = math.max(op.version + 1, op.now)
  return op.version
end

-- Whether the oldest waiter of a member wants more than the limit. Such a member must not block the others. A limit of 0 is a pause: then all
-- members stay in the queue.
local function can_never_fit(r)
  return limit(r) > 0 and limit(r) < r.weight_of_head
end

-- Grants a member as much as fits, if that is at least its oldest waiter. Returns whether it granted anything.
local function grow(r)
  local target = math.min(r.wanted, r.permits + cap(limit(r)) - op.used)
  if target <= r.permits or target < r.least then
    return false
  end
  op.used = op.used + target - r.permits
  r.permits = target
  r.version = tick()
  return true
end

local MISSED_RECHECK = 50000 -- microseconds

-- Packs the record of a member as the member sees it. Only the head of the queue gets the time of the next re-check, so that
-- not all waiting members claim again when a lease ends.
local function view(member, r)
  local most = limit(r)
  local others = op.queued - (r.waiting and 1 or 0)
  local flags = (others > 0 and 1 or 0) + (op.used > most and 2 or 0)
    + (op.grace and op.grace.pool < most and 4 or 0) -- with as many as the limit, no other permit can be free
  local recheck = -1
  if r.waiting and member == op.head and op.lease < math.huge then
    recheck = math.max(math.min(op.lease, op.grace and op.grace.over or math.huge) - op.now, 0) + 1000
  end
  if r.waiting and r.missed then -- the permits that it is granted are unused until it claims again
    recheck = recheck < 0 and MISSED_RECHECK or math.min(recheck, MISSED_RECHECK)
  end
  return struct.pack('<I4I4dddBI4', r.permits, most, r.sequence, r.version, recheck, flags, op.epoch)
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
  local reader = op.grace and math.max(op.reader, GRACE_READER) or op.reader
  local header = struct.pack(HEADER_PACKING, MARK, op.format, reader, op.used, op.queued, op.override, op.version,
    op.lease, op.tomb, op.life, op.epoch, op.checked)
  if op.queued < 2 then
    op.highest = 0
  end
  if op.highest > 0 or op.tail ~= '' then
    header = header .. struct.pack('<I4', op.highest)
  elseif op.epoch == 0 then
    header = string.sub(header, 1, FIRST_HEADER_LENGTH) -- no epoch is known: without a grace the fast path reads less
  end
  local fields = { '*', header .. op.tail }
  if op.grace then
    fields[3] = '+'
    fields[4] = struct.pack(GRACE_PACKING, op.grace.start, op.grace.over, op.grace.pool) .. op.grace.tail
  end
  for member, r in pairs(op.changed) do
    fields[#fields + 1] = member
    fields[#fields + 1] = struct.pack(RECORD_PACKING, r.permits, r.wanted, r.weight_of_head, r.least, r.limit, r.sequence,
      r.version, r.expiry, r.lease, r.tomb, (r.waiting and 1 or 0) + (r.missed and 2 or 0), FORMAT)
    local waiting_beyond_wanted = r.waiting and r.waiting_beyond_wanted or 0
    if waiting_beyond_wanted > 0 or r.tail ~= '' then
      fields[#fields] = fields[#fields] .. struct.pack('<I2', waiting_beyond_wanted) .. r.tail
    end
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
  if op.graced and not op.grace then
    call('HDEL', STATE, '+')
  end
  for i = 1, #op.to_expire do
    call('PEXPIREAT', op.to_expire[i], math.ceil(op.life / 1000) + 1)
  end
  if op.served then
    notify()
  end
  local e, survivor = op.expired, op.claimer or op.served and op.served[1]
  if e and survivor then -- for operators
    local to = channel(survivor)
    call('PUBLISH', to, struct.pack('<c1BBdI4I4I4B', 'E', FORMAT, MINIMUM_READER, op.now - e.expiry, e.permits,
      e.members - 1, e.all - e.permits, #e.member) .. e.member .. key)
  end
end

local drop, expire, serve, subscribed, compare_limits

-- Creates the functions for executions that find a queue or expired records; the others do not pay for them.
local function prepare()
  local MOST_LIMIT = 4294967295

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

  -- Removes an expired record and its entries in all sets.
  drop = function(member, r)
    op.used = op.used - r.permits
    if r.permits > 0 and member ~= op.claimer then
      local first = op.expired or { member = member, permits = r.permits, expiry = r.expiry, members = 0, all = 0 }
      first.members, first.all = first.members + 1, first.all + r.permits
      op.expired = first
    end
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
  subscribed = function(member)
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

  -- Keeps op.highest true when a member of the queue states another limit than before. While op.highest is 0 all others state the
  -- same, so that one of them is compared.
  compare_limits = function(member, own)
    if op.highest == 0 then
      local first = call('ZRANGE', QUEUE, 0, 1)
      local name = first[1] == member and first[2] or first[1]
      local other = name and record(name)
      local stated = other and other.limit or MOST_LIMIT
      op.highest = stated ~= own and stated or 0
    end
    if op.highest > 0 then
      op.highest = math.max(op.highest, own)
    end
  end

  -- How many permits more than it has the oldest waiter of a member needs. A claim that was sent before the member received a grant
  -- may want fewer than that: nothing can be granted for it, under no limit.
  local function lacks(r)
    return r.least > r.wanted and math.huge or math.max(1, r.least - r.permits)
  end

  -- Grants to the members of the queue, from its head, in memory. A member that does not fit blocks those behind it, unless only its
  -- own lower limit keeps it out: one behind it is served if the permits that the first one lacks are free under the limit of the
  -- second one. Returns the members that were granted something, and the most that a member lacks which is still queued. `last` is
  -- the record of a claim that does not wait, if there is one: its turn comes behind the queue.
  --
  -- A member other than the claimer that is not subscribed may have crashed: it is passed over and leaves the queue, so that it
  -- withholds no permit until its lease ends. Its record is marked as missed. A member that is alive claims again, which puts it
  -- back to the place that its age gives it. If no member before it has a limit as high as its own then (claim.lua), it is the next
  -- one: the mark stays, the next grant to it stands without a subscription, and its answer tells it to claim again soon.
  local function grant_in_order(claimer, last)
    local served, position, size, lacking = {}, 0, op.queued, 0
    local highest, lowest, top = 0, math.huge, -1 -- of the limits of members that stay queued, and of those that can fit
    local asked = op.records[claimer] and op.records[claimer].missed -- whether the claimer is the next one matters
    op.head = false
    while position < size do
      local member = call('ZRANGE', QUEUE, position, position)[1]
      local r = member and record(member)
      if not member or member == '' then -- the end, or the placeholder of a cluster
        op.queued = op.queued - (size - position)
        size = position
      elseif not r then
        remove(QUEUE, member)
        op.queued = op.queued - 1
        size = size - 1
      elseif r.expiry <= op.now then
        drop(member, r)
        size = size - 1
      else
        local before = r.permits
        local granted = not can_never_fit(r) and fits(lacking, limit(r)) and grow(r)
        if granted then
          op.changed[member] = r
        end
        if granted and member ~= claimer and not r.missed and not subscribed(member) then
          op.used = op.used - (r.permits - before)
          r.permits = before
          r.waiting = false
          r.missed = true
          remove(QUEUE, member)
          op.queued = op.queued - 1
          size = size - 1
        else
          position = position + 1
          if granted then
            served[#served + 1] = member
            r.missed = false
          end
          asked = asked and member ~= claimer
          if granted and r.permits == r.wanted then
            r.waiting = false
            op.queued = op.queued - 1
          else -- it keeps its position
            op.head = op.head or member
            highest, lowest = math.max(highest, r.limit), math.min(lowest, r.limit)
            if not can_never_fit(r) then
              lacking = math.max(lacking, lacks(r))
              r.next = limit(r) > top
              top = math.max(top, limit(r))
            end
            local most = op.override >= 0 and op.override or math.max(op.highest, r.limit, last and last.limit or 0)
            if not fits(lacking, most) and (not asked or top >= most) then
              break -- under no limit of those behind it
            end
          end
        end
      end
    end
    if position == size then -- all of the queue was seen
      op.highest = highest > lowest and highest or 0
    end
    return served, lacking
  end

  -- Serves the queue. The served members are notified at the end, except the claimer, which gets an answer. Arguments and the
  -- second result of grant_in_order are its own.
  serve = function(claimer, last)
    local served, lacking = grant_in_order(claimer, last)
    for _, member in ipairs(served) do
      if not op.records[member].waiting then
        remove(QUEUE, member)
      end
      if member ~= claimer then
        allow_writes() -- a grant is stored although the server is out of memory
        op.served = op.served or {}
        op.served[#op.served + 1] = member
      end
    end
    return lacking
  end
end
