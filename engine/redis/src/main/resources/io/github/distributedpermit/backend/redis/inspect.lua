-- The members that hold or wait. Reads every record of the key, and writes nothing. Follows common.lua.
--
-- Returns used, override or -1, the time in microseconds, the override with its terms, then for each member: its id, permits, wanted, limit, 1 if it waits, how many of its calls wait,
-- the microseconds that are left of its lease, those since its oldest waiter arrived or -1. Members that hold and do not wait are first, by id, then the
-- queue in its order.

local refused = load()
if refused then
  return refused
end

local used, holding, waiting = 0, {}, {}
local all = call('HGETALL', STATE)
for i = 1, #all, 2 do
  local member = all[i]
  if not string.find(member, '[^%w_-]') then -- the other names are fields of the key
    local r = decode(all[i + 1])
    if r.expiry > op.now then
      used = used + r.permits
      if r.waiting then
        waiting[member] = r
      elseif r.permits > 0 then
        holding[#holding + 1] = member
        op.records[member] = r
      end
    end
  end
end
table.sort(holding)

local result = { used, op.override, op.now, op.override >= 0 and call('GET', KEYS[5]) or '' }
local function add(member, r, arrived)
  local waited = arrived and math.max(0, op.now - arrived) or -1
  local weight_of_head = math.max(1, r.weight_of_head)
  local calls = r.waiting and r.waiting_beyond_wanted + math.max(1, math.ceil((r.wanted - r.permits) / weight_of_head)) or 0
  local left = math.min(r.expiry - op.now, 2 ^ 53)
  for _, value in ipairs({ member, r.permits, r.wanted, r.limit, r.waiting and 1 or 0, calls, left, waited }) do
    result[#result + 1] = value
  end
end
for _, member in ipairs(holding) do
  add(member, op.records[member])
end
if next(waiting) then
  local queue = call('ZRANGE', QUEUE, 0, -1, 'WITHSCORES')
  for i = 1, #queue, 2 do
    if waiting[queue[i]] then
      add(queue[i], waiting[queue[i]], tonumber(queue[i + 1]))
    end
  end
end
return result
