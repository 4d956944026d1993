/// The scripts of published streams. The lease of a stream is that of its hub.
extension ClusterScript {
  static let streamLibrary = """
    local function findStream(name)
      local text = redis.call('HGET', key('streams'), name)
      return text and cjson.decode(text)
    end
    local function runs(hub) return redis.call('ZSCORE', key('hubs'), hub) end
    local function placeStream(name, address)
      redis.call('HSET', key('streams'), name, cjson.encode({h = me, a = address}))
      tell('stream', {n = name, h = me, a = address})
    end
    local function dropStream(name, hub)
      redis.call('HDEL', key('streams'), name)
      tell('unstream', {n = name, h = hub})
    end
    -- The hub tells its streams again if it comes back.
    local function forgetStreams(hub)
      local all = redis.call('HGETALL', key('streams'))
      for i = 1, #all, 2 do
        if cjson.decode(all[i + 1]).h == hub then redis.call('HDEL', key('streams'), all[i]) end
      end
    end

    """

  static let publishBody = """
    if not isKnown then return {'wait', 1000} end
    local old = findStream(ARGV[2])
    if old and old.h ~= me and runs(old.h) then return {'taken'} end
    local waits = youth()
    if not old and waits > 0 then return {'wait', waits} end
    placeStream(ARGV[2], ARGV[3])
    return {'granted'}
    """

  static let unpublishBody = """
    local old = findStream(ARGV[2])
    if old and old.h == me then dropStream(ARGV[2], me) end
    return {'released'}
    """

  static let streamsBody = """
    local told = cjson.decode(ARGV[2])
    local missing, reply = {}, {}
    for _, name in ipairs(told.n) do missing[name] = true end
    local all = redis.call('HGETALL', key('streams'))
    for i = 1, #all, 2 do
      local name, record = all[i], cjson.decode(all[i + 1])
      if record.h == me then
        if not missing[name] then dropStream(name, me) elseif record.a == told.a then missing[name] = nil end
      elseif runs(record.h) then
        missing[name] = nil
        for _, part in ipairs({name, record.h, record.a}) do table.insert(reply, part) end
      elseif not missing[name] then
        redis.call('HDEL', key('streams'), name)
      end
    end
    for _, name in ipairs(told.n) do if missing[name] then placeStream(name, told.a) end end
    return reply
    """
}
