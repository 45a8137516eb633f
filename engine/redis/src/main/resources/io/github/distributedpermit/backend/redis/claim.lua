-- A member's claim: "of this key leave me `held` of what I have, I want `wanted` in all". Comes after serve.lua.
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
if op.line > 0 or op.lease <= now or op.tomb <= now or (r and r.expiry <= now) then
  prepare()
  expire()
  r = op.records[member]
  if r and r.expiry <= now then
    drop(member, r)
    r = false
  end
end

if r and sequence <= r.sequence then
  if op.line > 0 then
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
if op.stray then
  call('DEL', LINE, LEASES, TOMBS)
end

local in_line = r.waiting
local others = op.line - (in_line and 1 or 0)
local base = math.min(r.permits, held, wanted)
op.used = op.used - (r.permits - base)
r.permits, r.wanted, r.unit, r.least, r.limit, r.sequence = base, wanted, unit, base + unit, own, sequence
r.version = tick()
r.expiry = now + lease
r.waiting = queue and wanted > base
op.line = others + (r.waiting and 1 or 0)
op.changed[member] = r

if others == 0 then
  -- nobody to compare with: the line is written only if the member has to stay in it
  if r.waiting and not misfit(r) and grow(r) and r.permits == wanted then
    r.waiting = false
    op.line = 0
  end
  op.head = r.waiting and member
  op.leaving = in_line and not r.waiting and member
end
if r.waiting then
  put('ZADD', LINE, now - waited, member)
  if others == 0 and not in_line then
    op.unborn[1] = LINE
  end
end
if others > 0 then
  if in_line and not r.waiting then
    call('ZREM', LINE, member)
    op.written = true
  end
  serve(member)
end
if not queue and wanted > base and op.line == 0 then
  grow(r) -- who is not willing to wait takes only what the line leaves
end

local set, field = LEASES, 'lease'
if r.permits == 0 and not r.waiting then
  set, field = TOMBS, 'tomb'
  r.expiry = now + tombstone
end
if r[field] == 0 or r[field] > r.expiry then -- a later time than the one there needs no write
  put('ZADD', set, r.expiry, member)
  if r[field] == 0 then
    op.unborn[#op.unborn + 1] = set
  end
  r[field] = r.expiry
  op[field] = math.min(op[field], r.expiry)
end

-- The key lives as long as its records, and not much longer once nobody uses it. While somebody does, it is given time
-- for several renewals at once.
local lasts = r.expiry - now
if op.used == 0 and op.line == 0 then
  if r.expiry > op.life or op.life > r.expiry + lasts / 4 then
    op.life = r.expiry + lasts / 8
    op.unborn = { STATE, LINE, LEASES, TOMBS }
  end
elseif r.expiry > op.life then
  op.life = r.expiry + math.min(4 * lasts, math.max(lasts / 8, 60000000))
  op.unborn = { STATE, LINE, LEASES, TOMBS }
end

-- Redis keeps a small hash as a list and reads through it. From some members on that costs more than a table does, and
-- a field too long for the list makes it one.
if newcomer and call('HLEN', STATE) == 32 then
  local long = string.rep('-', 65)
  put('HSET', STATE, long, '')
  call('HDEL', STATE, long)
end

flush()
return op.refused or view(member, r)
