-- The claims of one member, of one key or of many, in one execution: the fast path. It handles the usual claim itself: nothing of
-- another member may have expired, the server is the one that has written the key, and the key has the format of this script and
-- is not in grace. The member may have no record, and the key no state: so a key that is used now and then costs hardly
-- more than one in constant use. If members wait, or the permits are not available, it calls the function claim_in_queue
-- (queued.lua). Every other claim goes to the function claim_slow_path (common.lua, serve.lua, lineage.lua, claim.lua), which
-- handles all. For the usual claim all have the same effect; the fast path takes less than half the time, because it creates
-- no function and hardly a table (docs/decisions/0013-three-forms-of-the-step.md).
--
-- KEYS: for each claim the five that common.lua names. ARGV: the member, and the packed claims, one after the other. Members
-- that ask for a grace after a loss of state add to KEYS the lineage, and to ARGV what claim.lua says; others send and read less,
-- because each name, argument and field costs time.
-- Returns the packed views of the member's records in the same way as the claims, and behind them, if there is a lineage, the
-- longest lease that members have stated, which the member returns to a server that has lost it.

local SHORT_HEADER, SHORT_HEADER_LENGTH = '<I4I4I4i4dddd', 48 -- without the epoch and its check
local HEADER, HEADER_LENGTH, STAMP = '<I4I4I4i4ddddI4d', 60, 0x01025044 -- mark, format, minimum reader: no grace
local RECORD, RECORD_LENGTH, FORMAT = '<I4I4I4I4I4dddddI2', 62, 0x0200 -- not waiting, format of the last writer
local SHORT_CLAIM, CLAIM, CLAIM_LENGTH = '<I4I4I4I4BdddI4', '<I4I4I4I4BdddI4I4I4', 65
local HUGE = math.huge
local call, pcall, pack, unpack = redis.call, redis.pcall, struct.pack, struct.unpack
local member, claims = ARGV[1], ARGV[2]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local count = math.floor(#KEYS / 5)
if #claims ~= CLAIM_LENGTH * count then
  return redis.error_reply('DPCLAIM the claims are not of the version of this script')
end
local graced = (ARGV[3] or '') ~= ''
local lineage, line_epoch, closed, since, stated, before, window_end, server_epoch

local single, views
for i = 1, count do
  local at, from = 5 * i - 4, CLAIM_LENGTH * (i - 1) + 1
  local state = KEYS[at]
  local found = call('HMGET', state, '*', member)
  local view
  if graced and not lineage then
    lineage, line_epoch, closed, since, stated, before, window_end, server_epoch = call('GET', KEYS[5 * count + 1]), nil, nil, nil, 0, 0, 0, nil
    if lineage and #lineage >= 75 then
      line_epoch, closed, since, stated, before, window_end = unpack('<I4I4dddd', lineage)
    end
  end
  repeat -- runs once; a break leaves the claim to the slow path
    local header, record = found[1], found[2]
    local has_epoch = graced
    local stamp, used, queued, override, version, first_lease, first_tomb, life, epoch, checked
    if header then
      has_epoch = #header == HEADER_LENGTH
      if not has_epoch and #header ~= SHORT_HEADER_LENGTH then
        break
      end
      stamp, used, queued, override, version, first_lease, first_tomb, life, epoch, checked =
        unpack(has_epoch and HEADER or SHORT_HEADER, header)
    else -- the key has no state
      stamp, used, queued, override, version, first_lease, first_tomb, life, epoch, checked =
        STAMP, 0, 0, -1, 0, HUGE, HUGE, 0, line_epoch, now
    end
    if not has_epoch then
      epoch, checked = 0, 0
    end
    local permits, last, expiry, leased, tombstoned, _ = 0, -1, HUGE, 0, 0
    if record then
      if not header or #record < RECORD_LENGTH then
        break
      end
      permits, _, _, _, _, last, _, expiry, leased, tombstoned = unpack(RECORD, record)
    end
    if stamp ~= STAMP or (first_tomb <= now and tombstoned ~= first_tomb) then
      break -- the tombstone of another member has expired
    end
    -- A bound of a lease may have passed that no claim has moved, if no other member holds or waits: whatever else has expired
    -- holds and waits for nothing then, and a later slow path removes it. A tombstone of the member itself is moved when it next returns.
    local rare = not record or first_lease <= now or first_tomb <= now
    if rare and (queued > 0 or (first_lease <= now and used > permits)) then
      break
    end
    local own, held, wanted, weight_of_head, flags, sequence, _, lease, tombstone, validly_held, known_epoch =
      unpack(graced and CLAIM or SHORT_CLAIM, claims, from)
    if sequence <= last or expiry <= now then
      break
    end
    if graced then -- flags from 4 on: the epoch is to be checked, or the first claim in a slot
      if line_epoch ~= epoch or closed == epoch or checked < since or since > now or (lease > stated and now < window_end) or flags >= 4 or validly_held > permits or (known_epoch ~= 0 and known_epoch ~= epoch) then
        break
      end
      if not header then
        if since + math.max(lease, stated, before, unpack('<d', ARGV[3])) > now then
          break -- the server may have lost the state
        end
        version = unpack('<d', claims, from + 57) -- the clock may be behind the one that versions have followed
      end
      if wanted > validly_held or queued > 0 then -- each execution that may grant asks, see lineage.lua
        if not server_epoch then
          local replication = pcall('INFO', 'replication')
          local _, id = string.find(type(replication) == 'string' and replication or '', 'master_replid:', 1, true)
          local own = id and tonumber(string.sub(replication, id + 1, id + 8), 16) or 0
          server_epoch = math.max(1, own - own % 65536 + (own + unpack('<I2', lineage, 74)) % 65536) -- as in serve.lua
        end
        if server_epoch ~= epoch then
          break
        end
        checked = now
      end
      if now >= window_end then -- as state_lease in lineage.lua
        local longest = lease > stated and lease or stated
        local windows = pack('<ddd', lease, stated, now + longest)
        lineage = string.sub(lineage, 1, 16) .. windows .. string.sub(lineage, 41)
        if pcall('SET', KEYS[5 * count + 1], lineage).err then
          break
        end
        stated, before, window_end = unpack('<ddd', windows)
      end
    end

    if queued > 0 then
      view = claim_in_queue(at, member, string.sub(claims, from, from + CLAIM_LENGTH - 1), record, header, now, checked)
      break
    end
    if record and #record ~= RECORD_LENGTH then
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
      if target > base and target >= base + weight_of_head then
        used = used - base + target
        permits = target
        version = version + 1
      end
      if permits < wanted and flags % 2 == 1 then
        view = not rare and claim_in_queue(at, member, string.sub(claims, from, from + CLAIM_LENGTH - 1), record, header, now, checked)
        break -- the member has to wait; one without a record has no place in queued.lua
      end
    end

    local set, bound, first, lasts, due = at + 2, leased, first_lease, lease, first_lease > now and now + lease * 0.4 or 0
    if permits == 0 then
      if not record then
        break
      end
      set, bound, first, lasts, due = at + 3, tombstoned, first_tomb, tombstone * 1000, now
    end
    expiry = now + lasts
    if bound > expiry then
      break
    end
    local clustered = flags % 4 >= 2
    if (not header and call('EXISTS', state, KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4]) > 0) -- not ours, orphaned, or an override
      or (header and not record and call('HLEN', state) == 32) then -- see claim.lua
      break
    end
    if bound <= due then -- moves the bound before it passes, when another claim would have to examine it
      if pcall('ZADD', KEYS[set], expiry, member) ~= (bound == 0 and 1 or 0) then
        break
      end
      if bound == 0 then
        first = first < expiry and first or expiry
      elseif first == bound then -- counting first: Redis needs long to write a score as text
        local alone = call('ZCARD', KEYS[set]) == 1
        first = alone and expiry or tonumber(call('ZRANGE', KEYS[set], 0, 0, 'WITHSCORES')[2])
      end
      if permits > 0 then
        leased, first_lease = expiry, first
      else
        tombstoned, first_tomb = expiry, first
      end
    end
    local relives = expiry > life or (used == 0 and life > expiry + 2 * lasts)
    if relives then -- as in claim.lua
      life = math.max(graced and version or 0, life == 0 and now + math.max(lasts, tombstone * 1000) * 1.125
        or expiry + (used == 0 and lasts or math.min(4 * lasts, math.max(lasts / 8, 60000000))))
    end
    local added = pcall('HSET', state,
      '*', pack(has_epoch and HEADER or SHORT_HEADER, STAMP, used, 0, override, version, first_lease, first_tomb, life, epoch, checked),
      member, pack(RECORD, permits, wanted, weight_of_head, base + weight_of_head, own, sequence, version, expiry, leased, tombstoned, FORMAT))
    if added ~= (record and 0 or header and 1 or 2) then
      break
    end
    if clustered and not header then -- the placeholders, see common.lua
      for k = at + 1, at + 3 do
        call('ZADD', KEYS[k], 'inf', '')
      end
      call('SET', KEYS[at + 4], -1)
    end
    if relives then
      local ends = math.ceil(life / 1000) + 1
      call('PEXPIREAT', state, ends)
      call('PEXPIREAT', KEYS[at + 2], ends)
      if first_tomb < HUGE or clustered then
        call('PEXPIREAT', KEYS[at + 3], ends)
      end
      if clustered then
        call('PEXPIREAT', KEYS[at + 1], ends)
      end
      if clustered and override < 0 then
        call('PEXPIREAT', KEYS[at + 4], ends)
      end
    elseif bound == 0 then -- the set may be new
      call('PEXPIREAT', KEYS[set], math.ceil(life / 1000) + 1)
    end
    view = pack('<I4I4dddBI4', permits, limit, sequence, version, -1, used > limit and 2 or 0, epoch)
  until true

  if not view then
    lineage = nil -- it may change, also its epoch
    view = claim_slow_path({ state, KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4], KEYS[5 * count + 1] },
      { member, string.sub(claims, from, from + CLAIM_LENGTH - 1), ARGV[3] }, time, found)
  end
  if view.err then
    return view -- earlier claims of this execution are stored; repeating them changes nothing
  end
  if single then
    views = views or { single }
    views[i] = view
  else
    single = view
  end
end
local all = views and table.concat(views) or single
return graced and all .. pack('<d', math.max(stated, before)) or all
