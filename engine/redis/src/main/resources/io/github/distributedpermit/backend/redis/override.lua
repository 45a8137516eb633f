-- Sets or removes the limit of an operator, which applies instead of the limit of each member. 0 is a pause. Follows serve.lua.
--
-- ARGV: the limit, or -1 for none; the limit with its terms; the text of the one that it may replace, or nothing for any; 1 in a
-- cluster, else 0.

local value = tonumber(ARGV[1])
op.clustered = ARGV[4] == '1'

local refused = load()
if refused then
  return refused
end
if ARGV[3] ~= '' and call('GET', KEYS[5]) ~= ARGV[3] then
  return 1
end
if value < 0 and (op.fresh or not op.clustered) then
  call('DEL', KEYS[5])
  op.written = true
else
  write('SET', KEYS[5], value < 0 and value or ARGV[2])
  op.to_expire[1] = value < 0 and KEYS[5] or nil -- with the key, see common.lua
end
if not op.fresh then
  op.override = value
  if is_own() then
    prepare()
    expire()
    serve()
  end
  flush()
end
return op.refused or 1
