-- Takes from a member, by order of an operator, all permits that are recorded for it, and serves the queue with them. The record
-- stays and the member is notified of it, so that it receives the loss like any other state. Follows serve.lua.
--
-- ARGV: the member; until when the order holds, in microseconds; 1 in a cluster, else 0. Returns how many permits were taken,
-- -1 if the order has come too late.

local member = ARGV[1]
op.clustered = ARGV[3] == '1'
if op.now > tonumber(ARGV[2]) then
  return -1
end

local refused = load(member)
if refused then
  return refused
end
if op.fresh then
  return 0
end
prepare()
expire()
local r, taken = op.records[member], 0
if r and r.permits > 0 then
  taken = r.permits
  op.used = op.used - taken
  if op.grace then -- the member may reclaim them before it is notified, and no permit may count twice
    op.grace.pool = math.max(0, op.grace.pool - taken)
  end
  if r.waiting then -- it joins the queue again by its next claim: served at once, some of its calls would keep their permits
    call('ZREM', QUEUE, member)
    op.written = true
    op.queued = op.queued - 1
    r.waiting = false
  end
  r.wanted = 0
  r.least = 0
  r.permits = 0
  r.version = tick()
  op.changed[member] = r
  op.writes_without_memory = true -- nothing is granted to the member, so memory must not matter
end
if is_own() then
  serve()
end
if taken > 0 then
  local known = false
  for _, served in ipairs(op.served or {}) do
    known = known or served == member
  end
  if not known then
    op.served = op.served or {}
    op.served[#op.served + 1] = member
  end
end
flush()
return op.refused or taken
