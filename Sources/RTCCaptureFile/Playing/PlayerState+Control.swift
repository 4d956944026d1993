internal import RTCMedia
internal import RTCPrimitives

extension PlayerState {
  /// Stops the clock. False when it stood already.
  mutating func pause(_ now: Timestamp) -> Bool {
    switch motion {
    case .playing:
      clock.stop(at: now)
      motion = .paused
      return true
    case .preparing(thenPaused: false):
      motion = .preparing(thenPaused: true)
      return true
    case .preparing(thenPaused: true), .paused: return false
    }
  }

  /// Starts the clock. False when it ran already.
  mutating func resume(_ now: Timestamp) -> Bool {
    switch motion {
    case .paused:
      owesPicture = false
      clock.run(at: now)
      motion = .playing
      return true
    case .preparing(thenPaused: true):
      motion = .preparing(thenPaused: false)
      return true
    case .preparing(thenPaused: false), .playing: return false
    }
  }

  mutating func setSpeed(_ speed: Double, _ now: Timestamp) {
    clock.setSpeed(speed, at: now)
    updateTaps(now)
  }

  mutating func setDecoding(_ isWanted: Bool, _ now: Timestamp) {
    guard isWanted != isDecodingWanted else { return }
    isDecodingWanted = isWanted
    totalAtPassEnd = nil
    // Pictures that are decoded already are shown when they are due: the decoder has had their packets and gives them out only once.
    if isWanted { video.floor = max(video.floor, clock.media(at: now)) }
  }

  func timeToNextKeyFrame(_ now: Timestamp) -> TimeDelta? {
    let media = clock.media(at: now)
    let indexed = indexedKeyFrame.flatMap { $0 > media ? $0 : nil }
    guard let next = video.log.nextKeyFrame(after: media) ?? indexed else { return nil }
    return .seconds(max(0, (next - media).seconds / clock.speed))
  }

  var playback: FilePlayer.Playback {
    guard isWanted else { return .idle }
    return switch motion {
    case .preparing: .preparing
    case .playing: .playing
    case .paused: .paused
    }
  }
}
