-- The claims of one member, of one key or of many, in one execution: the fast path. It handles the usual claim itself: the
-- member has a record, no record has expired, the server is the one that has written the key, and the key has the format of
-- this script and is not in grace. If members wait, or the permits are not available, it calls the function claim_in_queue
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
local call, pcall, pack, unpack = redis.call, redis.pcall, struct.pack, struct.unpack
local member, claims = ARGV[1], ARGV[2]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local count = math.floor(#KEYS / 5)
if #claims ~= CLAIM_LENGTH * count then
  return redis.error_reply('DPCLAIM the claims are not of the version of this script')
end
local graced, lineage, line_epoch, closed, since, server_epoch = (ARGV[3] or '') ~= '', nil, nil, nil, nil, nil
local stated, before, window_end = 0, 0, 0
if graced then
  lineage = call('GET', KEYS[5 * count + 1])
  if lineage and #lineage >= 75 then
    line_epoch, closed, since, stated, before, window_end = unpack('<I4I4dddd', lineage)
  end
end

local first, views
for i = 1, count do
  local at, from = 5 * i - 4, CLAIM_LENGTH * (i - 1) + 1
  local state = KEYS[at]
  local found = call('HMGET', state, '*', member)
  local view
  repeat -- runs once; a break leaves the claim to the slow path
    local header, record = found[1], found[2]
    if not header or not record or #record < RECORD_LENGTH then
      break
    end
    local has_epoch = #header == HEADER_LENGTH
    if not has_epoch and #header ~= SHORT_HEADER_LENGTH then
      break
    end
    local layout = has_epoch and HEADER or SHORT_HEADER
    local stamp, used, queued, override, version, first_lease, first_tomb, life, epoch, checked = unpack(layout, header)
    if stamp ~= STAMP or first_lease <= now or first_tomb <= now then
      break
    end
    if not has_epoch then
      epoch, checked = 0, 0
    end
    local permits, _, _, _, _, last, _, expiry, leased, tombstoned = unpack(RECORD, record)
    local own, held, wanted, weight_of_head, flags, sequence, _, lease, tombstone, validly_held, remembered =
      unpack(graced and CLAIM or SHORT_CLAIM, claims, from)
    if sequence <= last or expiry <= now then
      break
    end
    if graced then -- flags from 4 on: the epoch is to be checked, or the first claim in a slot
      if line_epoch ~= epoch or closed == epoch or checked < since or since > now or lease > stated or now >= window_end or flags >= 4 or validly_held > permits or (remembered ~= 0 and remembered ~= epoch) then
        break
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
    end

    if queued > 0 then
      view = claim_in_queue(at, member, string.sub(claims, from, from + CLAIM_LENGTH - 1), record, header, now, checked)
      break
    end
    if #record ~= RECORD_LENGTH then
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
        view = claim_in_queue(at, member, string.sub(claims, from, from + CLAIM_LENGTH - 1), record, header, now, checked)
        break -- the member has to wait
      end
    end

    local listed, lasts = leased, lease
    if permits == 0 then
      listed, lasts = tombstoned, tombstone * 1000
    end
    expiry = now + lasts
    if listed == 0 or listed > expiry or (used == 0 and life > expiry + lasts / 4) then
      break
    end
    if permits > 0 and leased < now + lease * 0.4 then -- moves the bound before it passes, when another claim would have to examine it
      if pcall('ZADD', KEYS[at + 2], expiry, member) ~= 0 then
        break
      end
      if first_lease == leased then -- counting first: Redis needs long to write a score as text
        local alone = call('ZCARD', KEYS[at + 2]) == 1
        first_lease = alone and expiry or tonumber(call('ZRANGE', KEYS[at + 2], 0, 0, 'WITHSCORES')[2])
      end
      leased = expiry
    end
    local lives_longer = expiry > life
    if lives_longer then
      life = expiry + (used == 0 and lasts / 8 or math.min(4 * lasts, math.max(lasts / 8, 60000000))) -- as in claim.lua
    end
    local added = pcall('HSET', state,
      '*', pack(layout, STAMP, used, 0, override, version, first_lease, first_tomb, life, epoch, checked),
      member, pack(RECORD, permits, wanted, weight_of_head, base + weight_of_head, own, sequence, version, expiry, leased, tombstoned, FORMAT))
    if added == 0 then
      local own_keys = flags % 4 >= 2 and override < 0 and 5 or 4 -- see common.lua
      for k = at, lives_longer and at + own_keys - 1 or 0 do
        call('PEXPIREAT', KEYS[k], math.ceil(life / 1000) + 1)
      end
      view = pack('<I4I4dddBI4', permits, limit, sequence, version, -1, used > limit and 2 or 0, epoch)
    end
  until true

  view = view
    or claim_slow_path({ state, KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4], KEYS[5 * count + 1] },
      { member, string.sub(claims, from, from + CLAIM_LENGTH - 1), ARGV[3] }, time, found)
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
local all = views and table.concat(views) or first
return graced and all .. pack('<d', math.max(stated, before)) or all
