import RTCSignaling

/// The scripts of messages to peers. Redis keeps each message until the hub of its receiver has delivered it, so that no
/// message is lost with a hub.
extension ClusterScript {
  private static let limits = HubLimits()
  /// Messages to one peer that its hub has not confirmed yet. The limit is for a hub that is slow: a peer that is away has
  /// the limit of `HubLimits.heldPerPeer`.
  private static let unconfirmed = 1_024

  static let letterLibrary = """
    local function channel(hub) return key('to:' .. hub) end
    local function removeLetter(number, text)
      redis.call('HDEL', key('letters'), number)
      redis.call('ZREM', key('posted'), number)
      redis.call('DECRBY', key('letterbytes'), #text)
    end
    -- Removes a letter that is not delivered, and tells its sender so: once for all letters with the same `told`.
    local function bounce(number, told)
      local text = redis.call('HGET', key('letters'), number)
      if not text then return end
      removeLetter(number, text)
      local letter = cjson.decode(text)
      if told[letter.from] == letter.to then return end
      told[letter.from] = letter.to
      local sender = find(letter.from)
      local notice = {from = letter.to, to = letter.from, k = 'unknown', b = letter.to}
      if sender then redis.call('PUBLISH', channel(sender.h), cjson.encode(notice)) end
    end
    local function bounceAll(name)
      local told = {}
      for _, number in ipairs(redis.call('LRANGE', key('mail:' .. name), 0, -1)) do bounce(number, told) end
      redis.call('DEL', key('mail:' .. name))
      redis.call('SREM', key('away'), name)
    end
    local function bounceOld()
      local told = {}
      for _, number in ipairs(redis.call('ZRANGEBYSCORE', key('posted'), '-inf', now - absence, 'LIMIT', 0, 256)) do
        local letter = cjson.decode(redis.call('HGET', key('letters'), number))
        redis.call('LREM', key('mail:' .. letter.to), 1, number)
        bounce(number, told)
      end
    end
    -- The numbers and texts of the letters to a peer in turn, oldest first.
    local function mail(name)
      local reply = {}
      for _, number in ipairs(redis.call('LRANGE', key('mail:' .. name), 0, -1)) do
        table.insert(reply, number)
        table.insert(reply, redis.call('HGET', key('letters'), number))
      end
      return reply
    end

    """

  static let postBody = """
    local post, name, text = ARGV[2], ARGV[3], ARGV[4]
    if tonumber(redis.call('HGET', key('sent'), me) or 0) >= tonumber(post) then return {'known'} end
    local record = find(name)
    -- Its hub has not stated it again, maybe.
    if not record and youth() > 0 then return {'later'} end
    redis.call('HSET', key('sent'), me, post)
    if not record or record.x then return {'unknown'} end
    local place = key('mail:' .. name)
    local isHere = redis.call('ZSCORE', key('hubs'), record.h) and redis.call('SISMEMBER', key('away'), name) == 0
    if redis.call('LLEN', place) >= (isHere and \(unconfirmed) or \(limits.heldPerPeer))
      or redis.call('ZCARD', key('posted')) >= \(limits.heldMessages)
      or tonumber(redis.call('GET', key('letterbytes')) or 0) + #text > \(limits.heldBytes)
    then return {'full'} end
    local number = math.max(tonumber(redis.call('GET', key('letter')) or 0) + 1, now)
    number = string.format('%.0f', number)
    redis.call('SET', key('letter'), number)
    local previous = redis.call('LINDEX', place, -1) or '0'
    redis.call('RPUSH', place, number)
    redis.call('HSET', key('letters'), number, text)
    redis.call('ZADD', key('posted'), now, number)
    redis.call('INCRBY', key('letterbytes'), #text)
    redis.call('PUBLISH', channel(record.h), '{"n":"' .. number .. '","p":"' .. previous .. '",' .. string.sub(text, 2))
    return {'posted'}
    """

  static let lettersBody = """
    if not mine(ARGV[2], ARGV[3]) then return {'lost'} end
    redis.call(ARGV[4] == '1' and 'SREM' or 'SADD', key('away'), ARGV[2])
    return {'letters', mail(ARGV[2])}
    """

  static let deliveredBody = """
    if not mine(ARGV[2], ARGV[3]) then return {'lost'} end
    local place = key('mail:' .. ARGV[2])
    for _, number in ipairs(redis.call('LRANGE', place, 0, -1)) do
      if tonumber(number) > tonumber(ARGV[4]) then break end
      redis.call('LPOP', place)
      removeLetter(number, redis.call('HGET', key('letters'), number))
    end
    return {'removed'}
    """
}
