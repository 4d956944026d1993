import RTCSignaling

/// The scripts of messages to peers. Redis keeps each message until the hub of its receiver has delivered it, so that no
/// message is lost with a hub.
extension ClusterScript {
  private static let limits = HubLimits()
  /// Messages to one peer that its hub has not confirmed yet. The limit is for a hub that is slow: a peer that is away has
  /// the limit of `HubLimits.heldPerPeer`.
  private static let unconfirmed = 1_024
  /// The bytes of these messages.
  private static let unconfirmedBytes = 4_194_304

  static let letterLibrary = """
    local function channel(hub) return key('to:' .. hub) end
    -- `text` is false if Redis has lost it.
    local function removeLetter(number, name, text)
      local bytes = text and #text or 0
      redis.call('HDEL', key('letters'), number)
      redis.call('ZREM', key('posted'), number)
      if redis.call('SREM', key('held'), number) == 1 then redis.call('DECRBY', key('heldbytes'), bytes) end
      if redis.call('HINCRBY', key('mailbytes'), name, 0 - bytes) <= 0 then redis.call('HDEL', key('mailbytes'), name) end
    end
    -- Removes a letter that is not delivered, and tells its sender so: once for all letters with the same `told`.
    local function bounce(number, text, told)
      local letter = cjson.decode(text)
      removeLetter(number, letter.to, text)
      if told[letter.from] == letter.to then return end
      told[letter.from] = letter.to
      local sender = find(letter.from)
      local notice = {from = letter.to, to = letter.from, k = 'unknown', b = letter.to}
      if sender then redis.call('PUBLISH', channel(sender.h), cjson.encode(notice)) end
    end
    local function bounceAll(name)
      local told = {}
      for _, number in ipairs(redis.call('LRANGE', key('mail:' .. name), 0, -1)) do
        local text = redis.call('HGET', key('letters'), number)
        if text then bounce(number, text, told) else removeLetter(number, name, text) end
      end
      redis.call('DEL', key('mail:' .. name))
      redis.call('HDEL', key('mailbytes'), name)
      redis.call('SREM', key('away'), name)
    end
    local function bounceOld()
      local told = {}
      for _, number in ipairs(redis.call('ZRANGEBYSCORE', key('posted'), '-inf', now - absence, 'LIMIT', 0, 256)) do
        local text = redis.call('HGET', key('letters'), number)
        if text then
          redis.call('LREM', key('mail:' .. cjson.decode(text).to), 1, number)
          bounce(number, text, told)
        else
          redis.call('ZREM', key('posted'), number)
        end
      end
      -- If Redis has lost texts, their bytes are still counted.
      if redis.call('EXISTS', key('posted')) == 0 then
        redis.call('DEL', key('held'), key('heldbytes'), key('mailbytes'))
      end
    end
    -- The numbers and texts of the letters to a peer in turn, oldest first.
    local function mail(name)
      local reply = {}
      for _, number in ipairs(redis.call('LRANGE', key('mail:' .. name), 0, -1)) do
        local text = redis.call('HGET', key('letters'), number)
        if text then
          table.insert(reply, number)
          table.insert(reply, text)
        end
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
    if not record or record.x then return {'unknown'} end
    local place = key('mail:' .. name)
    local isHere = redis.call('ZSCORE', key('hubs'), record.h) and redis.call('SISMEMBER', key('away'), name) == 0
    local count = redis.call('LLEN', place)
    local bytes = #text + (count > 0 and tonumber(redis.call('HGET', key('mailbytes'), name) or 0) or 0)
    if isHere then
      if count >= \(unconfirmed) or bytes > \(unconfirmedBytes) then return {'full'} end
    elseif count >= \(limits.heldPerPeer) or redis.call('SCARD', key('held')) >= \(limits.heldMessages)
      or tonumber(redis.call('GET', key('heldbytes')) or 0) + #text > \(limits.heldBytes)
    then
      return {'full'}
    end
    -- A message that was refused is judged again if it is sent again.
    redis.call('HSET', key('sent'), me, post)
    local number = math.max(tonumber(redis.call('GET', key('letter')) or 0) + 1, now)
    number = string.format('%.0f', number)
    redis.call('SET', key('letter'), number)
    local previous = redis.call('LINDEX', place, -1) or '0'
    redis.call('RPUSH', place, number)
    redis.call('HSET', key('letters'), number, text)
    redis.call('ZADD', key('posted'), now, number)
    redis.call('HSET', key('mailbytes'), name, bytes)
    if not isHere then
      redis.call('SADD', key('held'), number)
      redis.call('INCRBY', key('heldbytes'), #text)
    end
    redis.call('PUBLISH', channel(record.h), '{"n":"' .. number .. '","p":"' .. previous .. '",' .. string.sub(text, 2))
    return {'posted'}
    """

  static let lettersBody = """
    if not mine(ARGV[2], ARGV[3]) then return {'lost'} end
    redis.call(ARGV[4] == '1' and 'SREM' or 'SADD', key('away'), ARGV[2])
    return {'letters', ARGV[4] == '1' and mail(ARGV[2]) or {}}
    """

  static let deliveredBody = """
    if not mine(ARGV[2], ARGV[3]) then return {'lost'} end
    local place = key('mail:' .. ARGV[2])
    for _, number in ipairs(redis.call('LRANGE', place, 0, -1)) do
      if tonumber(number) > tonumber(ARGV[4]) then break end
      redis.call('LPOP', place)
      removeLetter(number, ARGV[2], redis.call('HGET', key('letters'), number))
    end
    return {'removed'}
    """
}
