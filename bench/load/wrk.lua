-- The requests of a run, made from the number of the request alone, so that what must come out of it is known:
-- wrk ... -- MODE PREFIX GROUPS, where MODE is post, bulk or get.
local mode, prefix, groups, number
local JSON = { ["Content-Type"] = "application/json" }
local BULK = 100

local function group_of(op)
  -- Scattered, yet known: 617 shares no factor with the number of groups.
  return prefix .. (op * 617) % groups
end

local function item(op)
  return '"member":"user-' .. op % 10007 .. '","payload":{"page":"/articles/' .. op .. '","ref":"home"}}'
end

function init(args)
  mode, prefix, groups = args[1], args[2], tonumber(args[3])
  -- wrk asks once before the start to see whether there is a request at all; that one is never sent.
  number = -2
end

function request()
  number = number + 1
  if mode == "get" then
    return wrk.format("GET", "/v1/groups/" .. group_of(number) .. "/items")
  end
  if mode == "post" then
    return wrk.format("POST", "/v1/groups/" .. group_of(number) .. "/items", JSON, "{" .. item(number))
  end
  local items = {}
  for at = 1, BULK do
    local op = number * BULK + at - 1
    items[at] = '{"group":"' .. group_of(op) .. '",' .. item(op)
  end
  return wrk.format("POST", "/v1/items", JSON, '{"items":[' .. table.concat(items, ",") .. ']}')
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '\nresult {"requests":%d,"microseconds":%d,"bytes":%d,"refused":%d,"broken":%d,"p50":%d,"p99":%d}\n',
    summary.requests, summary.duration, summary.bytes, e.status, e.connect + e.read + e.write + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
