-- One member's claims of one key or of many, in one call. Comes after the function `thoroughly`, made of common.lua,
-- serve.lua and claim.lua, which can deal with every claim. Here is what nearly all claims need: the member is known,
-- nobody is in line, nothing has lapsed, and what is asked for is there. It comes to the same in half of the time, since
-- it makes no function and hardly a table.
--
-- KEYS: for each claim the five that common.lua names. ARGV: the member, then the packed claims.
-- Returns the packed views of the member's records, one after the other.

local HEADER, RECORD = '<BI4I4i4dddd', '<I4I4I4I4I4dddddB'
local call, pcall, pack, unpack = redis.call, redis.pcall, struct.pack, struct.unpack
local member = ARGV[1]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]

local first, views
for i = 2, #ARGV do
  local at = 5 * i - 9
  local state, claim = KEYS[at], ARGV[i]
  local found = call('HMGET', state, '*', member)
  local view
  repeat -- once; a break leaves it to the other function
    if not found[1] or not found[2] then
      break
    end
    local kind, used, line, override, version, first_lease, first_tomb, life = unpack(HEADER, found[1])
    if kind ~= 1 or line > 0 or first_lease <= now or first_tomb <= now then
      break
    end
    local permits, _, _, _, _, last, _, expiry, leased, entombed = unpack(RECORD, found[2])
    local own, held, wanted, unit, flags, sequence, _, lease, tombstone = unpack('<I4I4I4I4Bdddd', claim)
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
        break -- it has to wait in line
      end
    end

    local listed = leased
    expiry = now + lease
    if permits == 0 then
      listed = entombed
      expiry = now + tombstone
    end
    if listed == 0 or listed > expiry or expiry > life or (used == 0 and life > expiry + (expiry - now) / 4) then
      break
    end
    local added = pcall('HSET', state,
      '*', pack(HEADER, 1, used, 0, override, version, first_lease, first_tomb, life),
      member, pack(RECORD, permits, wanted, unit, base + unit, own, sequence, version, expiry, leased, entombed, 0))
    if added == 0 then
      view = pack('<I4I4dddB', permits, limit, sequence, version, -1, used > limit and 2 or 0)
    end
  until true

  view = view
    or thoroughly({ state, KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4] }, { member, claim }, time, found)
  if view.err then
    return view -- the claims before it are done, and repeating them changes nothing
  end
  if first then
    views = views or { first }
    views[i - 1] = view
  else
    first = view
  end
end
return views and table.concat(views) or first
