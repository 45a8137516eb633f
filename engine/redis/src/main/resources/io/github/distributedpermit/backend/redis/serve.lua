-- What the operations that change a key share: writing, growing, expiring, serving. Comes after common.lua.

-- A write that needs memory. The server asks for memory only before a call's first write, and never for a removal. If
-- this is the first and there is none, a return or a renewal goes on, and a new grant is refused with all as it was.
local function put(...)
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

local function limit(r)
  return op.override >= 0 and op.override or r.limit
end

local function tick()
  op.version = math.max(op.version + 1, op.now)
  return op.version
end

-- A unit above the limit can never fit and must not block the others. A limit of 0 is a pause, and all stay in line.
local function misfit(r)
  return limit(r) > 0 and limit(r) < r.unit
end

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

local function view(member, r)
  local most = limit(r)
  local others = op.line - (r.waiting and 1 or 0)
  local flags = (others > 0 and 1 or 0) + (op.used > most and 2 or 0)
  local recheck = -1
  if r.waiting and member == op.head and op.lease < math.huge then
    recheck = math.max(op.lease - op.now, 0) + 1000
  end
  return struct.pack('<I4I4dddB', r.permits, most, r.sequence, r.version, recheck, flags)
end

local prefix, key

local function channel(member)
  if not prefix then
    prefix, key = string.match(STATE, '^(.*):{(.*)}:state$')
  end
  return prefix .. ':member:' .. member
end

-- Notifies the served members. Comes after everything is written: an error here must not leave a notification of a grant
-- that is not recorded.
local function notify()
  for _, member in ipairs(op.served) do
    local packed, to = view(member, op.records[member]), channel(member)
    call('PUBLISH', to, struct.pack('<c1BBB', 'G', FORMAT, MINIMUM_READER, #packed) .. packed .. key)
  end
end

-- Writes down what has changed, then notifies. A line may be served at once that is longer than the values a call can take.
local function flush()
  local header = struct.pack(HEADER_PACKING, MARK, op.format, op.reader, op.used, op.line, op.override, op.version,
    op.lease, op.tomb, op.life)
  local fields = { '*', header .. op.tail }
  for member, r in pairs(op.changed) do
    fields[#fields + 1] = member
    fields[#fields + 1] = struct.pack(RECORD_PACKING, r.permits, r.wanted, r.unit, r.least, r.limit, r.sequence,
      r.version, r.expiry, r.lease, r.tomb, r.waiting and 1 or 0, FORMAT) .. r.tail
    if #fields > 1000 then
      put('HSET', STATE, unpack(fields))
      fields = {}
    end
  end
  if #fields > 0 then
    put('HSET', STATE, unpack(fields))
  end
  if op.leaving then
    call('ZREM', LINE, op.leaving)
  end
  for i = 1, #op.unborn do
    call('PEXPIREAT', op.unborn[i], math.ceil(op.life / 1000) + 1)
  end
  if op.served then
    notify()
  end
end

local drop, expire, serve

-- Makes the functions that only calls need which meet a line or what has lapsed.
local function prepare()
  local function record(member)
    local r = op.records[member]
    if r == nil then
      local packed = call('HGET', STATE, member)
      r = packed and decode(packed) or false
      op.records[member] = r
    end
    return r
  end

  local function remove(key, member)
    call(key == STATE and 'HDEL' or 'ZREM', key, member)
    op.written = true
  end

  -- A removal of nothing: it opens the way for writes that need memory, see put().
  local function unlock()
    if not op.written then
      remove(STATE, '')
    end
  end

  -- Removes a record and every trace of it.
  drop = function(member, r)
    op.used = op.used - r.permits
    if r.waiting then
      remove(LINE, member)
      op.line = op.line - 1
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

  -- Every record is in `leases` or in `tombs`, or it would never lapse.
  local function leased(r)
    return r.permits > 0 or r.waiting or r.tomb == 0
  end

  local function remembered(r)
    return r.lease == 0 or not leased(r)
  end

  -- A due member of `leases` or `tombs` has either lapsed, or was seen again since and is put where it belongs now.
  local function review(set, field, belongs, member)
    local r = record(member)
    if not r then
      remove(set, member)
    elseif r.expiry <= op.now then
      drop(member, r)
    else
      unlock()
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

  -- Reviews so many due members at most. Returns how many.
  local function collect(set, field, belongs, most)
    local due = call('ZRANGEBYSCORE', set, '-inf', op.now, 'LIMIT', 0, most)
    for i = 1, #due do
      review(set, field, belongs, due[i])
    end
    op[field] = tonumber(call('ZRANGE', set, 0, 0, 'WITHSCORES')[2] or math.huge)
    return #due
  end

  -- Removes what has lapsed, a bounded number at a time: what is left over only keeps permits back a little longer.
  expire = function()
    local left = 1000
    while op.lease <= op.now and left > 0 do
      left = left - math.max(collect(LEASES, 'lease', leased, 100), 1)
    end
    if op.tomb <= op.now then
      collect(TOMBS, 'tomb', remembered, 16)
    end
  end

  -- Whether the member is subscribed on this server. Asked before it gets anything: a notification can't be taken back,
  -- because PUBLISH is replicated and a subscriber of a replica receives it whatever this server counts. The subscribers of
  -- a cluster can't be counted here; there each grant stands.
  local function subscribed(member)
    if op.clustered then
      return true
    end
    local count = redis.pcall('PUBSUB', 'NUMSUB', channel(member))
    if count.err then
      op.refused = count -- reported when all is written: to fail here would leave half of it
      return false
    end
    return count[2] > 0
  end

  -- Grants to the line from its head, in memory. Returns the members that got something. A member other than the claimer
  -- that can't be notified gets nothing and leaves the line; its next claim brings it back.
  local function offer(claimer)
    local served, position, size = {}, 0, op.line
    op.head = false
    while position < size do
      local member = call('ZRANGE', LINE, position, position)[1]
      local r = member and record(member)
      if not member then
        op.line = op.line - (size - position)
        size = position
      elseif not r then
        remove(LINE, member)
        op.line = op.line - 1
        size = size - 1
      elseif r.expiry <= op.now then
        drop(member, r)
        size = size - 1
      elseif misfit(r) then
        op.head = op.head or member
        position = position + 1
      else
        local before = r.permits
        if not grow(r) then
          op.head = op.head or member
          break -- strict: nobody passes a head that merely does not fit yet
        end
        op.changed[member] = r
        if member ~= claimer and not subscribed(member) then
          op.used = op.used - (r.permits - before)
          r.permits = before
          r.waiting = false
          remove(LINE, member)
          op.line = op.line - 1
          size = size - 1
        else
          served[#served + 1] = member
          if r.permits < r.wanted then
            op.head = op.head or member
            break -- it keeps its place
          end
          r.waiting = false
          op.line = op.line - 1
          position = position + 1
        end
      end
    end
    return served
  end

  -- Serves the line. The served members are notified at the end, except the claimer, which gets an answer.
  serve = function(claimer)
    for _, member in ipairs(offer(claimer)) do
      if not op.records[member].waiting then
        remove(LINE, member)
      end
      if member ~= claimer then
        unlock() -- a grant that has been decided is recorded also when the server is out of memory
        op.served = op.served or {}
        op.served[#op.served + 1] = member
      end
    end
  end
end
