-- The claim of a member: "leave me `held` of the permits I have; I want `wanted` in total". Follows lineage.lua; with common.lua and
-- serve.lua these are the function claim_slow_path, which handles every claim.
--
-- ARGV: the member, the packed claim, and as two packed numbers how long a new server waits for members that remember it, and the
-- longest lease of any member that the claimer knows of (neither: the server may lose state without a grace). Returns the packed view of the member's record.
-- The packed claim has the parts of spi.Claim: counts (`own` is the limit that it states), head, what it reclaims, what operators see.

local member = ARGV[1]
local own, held, wanted, weight_of_head, flags, sequence, waited, lease, tombstone, validly_held, known_epoch, waiting_beyond_wanted, known_version =
  struct.unpack('<I4I4I4I4BdddI4I4I4I4d', ARGV[2])
local queues, checks_epoch = flags % 2 == 1, flags % 8 >= 4
local of_node = flags >= 8 -- the member has not used this slot, but other slots of the node for a lease at least
local now = op.now
op.clustered = flags % 4 >= 2
op.claimer = member

local refused = load(member)
if refused then
  return refused
end
op.writes_without_memory = validly_held > 0 or wanted == 0 -- the lineage may have to be written before more is known
local lineage = (ARGV[3] or '') ~= '' and read_lineage()
if lineage and is_closed(lineage) then
  return redis.error_reply('DPMOVED another server is the master')
end
local r = op.records[member]
if op.queued > 0 or op.lease <= now or op.tomb <= now or (r and (r.expiry <= now or r.missed)) then
  prepare()
  expire()
  r = op.records[member]
  if r and r.expiry <= now then
    drop(member, r)
    r = false
  end
end

if lineage then
  local recorded = r and r.permits or 0
  local new_server_grace, known_lease = struct.unpack('<dd', ARGV[3])
  state_lease(lineage, lease)
  local lost = check(lineage, known_epoch, of_node, checks_epoch, validly_held, wanted, recorded, known_lease, new_server_grace)
  if lost then
    r = false
  end
  if lost or op.grace then -- the clock may be behind the one that versions have followed
    op.version = math.max(op.version, known_version)
  end
  write_lineage(lineage)
  if op.grace and op.grace.start >= 0 then -- a longer lease may have been stated since the grace began
    op.grace.over = math.max(op.grace.over, op.grace.start + longest_lease(lineage))
  end
end

if r and sequence <= r.sequence then
  if op.queued > 0 then
    serve(member)
  end
  -- It writes in any case: a member that waits for a replica then learns by WAIT that the replica has also what others wrote before,
  -- since from Redis 7.2 on WAIT compares with the last command that wrote.
  op.writes_without_memory = true
  flush()
  return op.refused or view(member, r)
end

local newcomer = not r
if newcomer then
  r = { permits = 0, wanted = 0, weight_of_head = 0, least = 0, limit = 0, sequence = 0, version = 0, expiry = 0, lease = 0, tomb = 0,
    waiting = false, missed = false, waiting_beyond_wanted = 0, tail = '' }
  op.records[member] = r
end
op.writes_without_memory = r.permits > 0 or wanted == 0 or (op.grace and validly_held > 0)
if op.orphaned then
  call('DEL', QUEUE, LEASES, TOMBS)
end
local own_keys = { STATE, QUEUE, LEASES, TOMBS } -- those that expire with the key
if op.clustered then
  if op.fresh then -- the placeholders, see common.lua
    for i = 2, 4 do
      write('ZADD', KEYS[i], 'inf', '')
    end
    if op.override < 0 then
      write('SET', KEYS[5], -1)
    end
  end
  own_keys[5] = op.override < 0 and KEYS[5] or nil
end

local was_queued, stated = r.waiting, r.limit
local others = op.queued - (was_queued and 1 or 0)
-- During a grace the member gets back what it validly holds, unless the claim was written before the loss. The grace does not
-- end when as many permits came back as the limit: a member that states a higher one may hold more. A claim that was on its way for
-- too long gets nothing back: what it states was confirmed by this server at its version, or by an earlier one before the loss.
local had = r.permits
if op.grace and lineage and known_epoch == op.epoch and now - math.max(known_version, lineage.since) <= lease then
  had = math.max(had, validly_held)
end
local base = math.min(had, held, wanted)
if op.grace then
  op.grace.pool = op.grace.pool + math.max(0, base - r.permits)
end
op.used = op.used - (r.permits - base)
r.permits, r.wanted, r.weight_of_head, r.least, r.limit, r.sequence = base, wanted, weight_of_head, base + weight_of_head, own, sequence
r.version = tick()
r.expiry = now + lease
r.waiting_beyond_wanted = waiting_beyond_wanted
r.waiting = queues and wanted > base
op.queued = others + (r.waiting and 1 or 0)
op.changed[member] = r

if others == 0 then
  -- no other member waits: the queue is written only if this member has to wait
  if r.waiting and not can_never_fit(r) and grow(r) and r.permits == wanted then
    r.waiting = false
    op.queued = 0
  end
  op.head = r.waiting and member
  r.next = r.waiting
  op.leaving = was_queued and not r.waiting and member
end
if r.waiting then
  write('ZADD', QUEUE, now - waited, member)
  if others == 0 and not was_queued then
    op.to_expire[1] = QUEUE
  end
end
local try = not queues and wanted > base
local lacking = 0
if others > 0 then
  if was_queued and not r.waiting then
    call('ZREM', QUEUE, member)
    op.written = true
  elseif r.waiting and not (was_queued and stated == own) then
    compare_limits(member, own)
  end
  lacking = serve(member, try and r)
end
if try and fits(lacking, limit(r)) then
  grow(r) -- a try gets only permits that the queue leaves
end

-- A member that was passed over claims all the same, so it is alive; see grant_in_order.
r.missed = r.missed and r.waiting and r.next and not subscribed(member)

local set, field = LEASES, 'lease'
if r.permits == 0 and not r.waiting then
  set, field = TOMBS, 'tomb'
  r.expiry = math.max(now + tombstone * 1000, op.grace and op.grace.over or 0)
end
if r[field] == 0 or r[field] > r.expiry then -- the stored bound is still a lower bound
  write('ZADD', set, r.expiry, member)
  if r[field] == 0 then
    op.to_expire[#op.to_expire + 1] = set
  end
  r[field] = r.expiry
  op[field] = math.min(op[field], r.expiry)
end

-- The key expires after its records, and not before the clock has passed its version, which is ahead of a clock that is behind that
-- of an earlier server: otherwise versions, and with them the tokens of grants, would go back. A key that was not in use before
-- expires soon after its permits were returned, so that keys which are used once take no memory for long. One that is used
-- again or held for long gets an expiry which covers several renewals or uses, so that most of them do not write it.
local lasts = r.expiry - now
local idle = op.used == 0 and op.queued == 0
if r.expiry > op.life or (idle and op.life > r.expiry + 2 * lasts) then
  op.life = math.max(lineage and op.version or 0, op.life == 0 and now + math.max(lasts, tombstone * 1000) * 1.125
    or r.expiry + (idle and lasts or math.min(4 * lasts, math.max(lasts / 8, 60000000))))
  op.to_expire = own_keys
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
