import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives

/// Turns running totals into figures per second, over the time since it was last asked.
struct StatisticsMeter {
  private let started: Timestamp
  private var measured: Timestamp
  private var encoding = EncodingStatistics()
  private var peers: [String: PeerStatistics] = [:]
  private var passedFrames: UInt64 = 0
  private var rungs: [EncodingStatistics] = []
  /// NACK and PLI counts of viewers that are gone.
  private var departed: (nacks: UInt64, plis: UInt64) = (0, 0)

  init(started: Timestamp) {
    self.started = started
    measured = started
  }

  mutating func measure(
    now: Timestamp, encoding new: EncodingStatistics, peers viewers: [(id: String, statistics: PeerStatistics)],
    sessions: Int, codec: VideoCodec, passed: PassedPictures?,
    rungs: [(statistics: EncodingStatistics, target: BitRate?)], counts: RungCounts
  ) -> BroadcastStatistics {
    let interval = max((now - measured).seconds, 1e-3)
    var result = BroadcastStatistics()
    result.time = now - started
    result.sessions = sessions
    result.codec = codec
    measureEncoding(new, interval: interval, into: &result)
    if let passed { measure(passed, interval: interval, into: &result) }
    passedFrames = passed?.frames ?? 0
    for viewer in viewers { result.peers.append(measure(viewer.id, viewer.statistics, interval: interval)) }
    summarize(viewers, into: &result)
    measure(rungs, counts, interval: interval, into: &result)
    measured = now
    encoding = new
    return result
  }

  /// Adds the differences of the rungs' totals since the last call.
  private mutating func measure(
    _ new: [(statistics: EncodingStatistics, target: BitRate?)], _ counts: RungCounts, interval: Double,
    into result: inout BroadcastStatistics
  ) {
    for (index, rung) in new.enumerated() {
      let before = index < rungs.count ? rungs[index] : EncodingStatistics()
      var measured = BroadcastStatistics.Rung()
      measured.viewers = result.peers.count { $0.rung == index }
      measured.target = rung.target
      // The encoders change places with their rungs.
      let frames = rung.statistics.framesEncoded - min(rung.statistics.framesEncoded, before.framesEncoded)
      let bytes = rung.statistics.bytesEncoded - min(rung.statistics.bytesEncoded, before.bytesEncoded)
      measured.framesEncoded = Double(frames) / interval
      measured.bitrate = BitRate(bitsPerSecond: Int64(Double(bytes) * 8 / interval))
      measured.keyFrames = rung.statistics.keyFrames
      result.rungs.append(measured)
    }
    rungs = new.map(\.statistics)
    result.handovers = counts.handovers
    result.moves = counts.moves
    for (reason, count) in counts.keyFrameRequests { result.keyFrameRequests[reason.rawValue] = count }
  }

  private func measureEncoding(
    _ new: EncodingStatistics, interval: Double, into result: inout BroadcastStatistics
  ) {
    let (captured, encoded) = new.frames(since: encoding)
    result.framesCaptured = Double(captured) / interval
    result.framesEncoded = Double(encoded) / interval
    if let size = new.size { result.size = size }
    result.contentHint = new.contentHint
    result.quantizer = new.quantizer
    result.rawCopies = new.rawCopies
    result.leftOut = new.leftOut
    let taken = Int64(new.framesTaken - min(new.framesTaken, encoding.framesTaken))
    if taken > 0 {
      result.captureTime = (new.captureTime - encoding.captureTime) / taken
      result.convertTime = (new.convertTime - encoding.convertTime) / taken
    }
    if encoded > 0 { result.encodeTime = (new.encodeTime - encoding.encodeTime) / encoded }
  }

  /// While viewers get passed-through pictures, these are reported, even if other viewers get encoded ones.
  private func measure(_ passed: PassedPictures, interval: Double, into result: inout BroadcastStatistics) {
    if passed.isWatched { (result.codec, result.size) = (passed.codec, passed.size) }
    result.framesPassed = Double(passed.frames - min(passed.frames, passedFrames)) / interval
  }

  private func measure(_ id: String, _ peer: PeerStatistics, interval: Double) -> BroadcastStatistics.Viewer {
    let before = peers[id]?.video ?? SendStatistics()
    let soundBefore = peers[id]?.audio ?? AudioSendStatistics()
    let new = peer.video
    var viewer = BroadcastStatistics.Viewer(id: id, state: peer.state)
    viewer.route = peer.selectedRoute
    let frames = Int64(new.framesSent - before.framesSent)
    viewer.framesSent = Double(frames) / interval
    let sound = peer.audio.bytesSent - soundBefore.bytesSent
    viewer.audioBitrate = BitRate(bitsPerSecond: Int64(Double(sound) * 8 / interval))
    viewer.bitrate = BitRate(bitsPerSecond: Int64(Double(new.bytesSent - before.bytesSent + sound) * 8 / interval))
    viewer.audioLoss = peer.audio.fractionLost
    viewer.target = peer.targetBitrate
    viewer.network = peer.network
    viewer.videoBytes = new.bytesSent - before.bytesSent
    viewer.repairBytes = new.repairBytes - before.repairBytes
    viewer.roundTripTime = peer.roundTripTime
    viewer.loss = peer.loss
    viewer.nackCount = new.nackCount
    viewer.pliCount = new.pliCount
    if frames > 0 { viewer.sendDelay = (new.sendDelay - before.sendDelay) / frames }
    (viewer.rung, viewer.rungReason) = (peer.rung, peer.rungReason)
    return viewer
  }

  private mutating func summarize(
    _ viewers: [(id: String, statistics: PeerStatistics)], into result: inout BroadcastStatistics
  ) {
    result.viewers = result.peers.count
    result.framesSent = result.peers.map(\.framesSent).max() ?? 0
    result.bitrate = BitRate(bitsPerSecond: result.peers.reduce(0) { $0 + $1.bitrate.bitsPerSecond })
    result.audioBitrate = BitRate(bitsPerSecond: result.peers.reduce(0) { $0 + $1.audioBitrate.bitsPerSecond })
    result.audioLoss = result.peers.map(\.audioLoss).max() ?? 0
    result.target = result.peers.map(\.target).max() ?? .zero
    result.estimate = result.peers.compactMap(\.network).min { $0.target < $1.target }
    result.queueingDelay = result.peers.compactMap { $0.network?.queueingDelay }.max()
    let videoBytes = result.peers.reduce(0) { $0 + $1.videoBytes }
    if videoBytes > 0 {
      result.repairShare = Double(result.peers.reduce(0) { $0 + $1.repairBytes }) / Double(videoBytes)
    }
    result.roundTripTime = result.peers.compactMap(\.roundTripTime).max()
    result.loss = result.peers.map(\.loss).max() ?? 0
    result.sendDelay = result.peers.map(\.sendDelay).max() ?? .zero
    let present = Dictionary(uniqueKeysWithValues: viewers.map { ($0.id, $0.statistics) })
    for (id, last) in peers where present[id] == nil {
      departed.nacks += last.video.nackCount
      departed.plis += last.video.pliCount
    }
    peers = present
    result.nackCount = departed.nacks + present.values.reduce(0) { $0 + $1.video.nackCount }
    result.pliCount = departed.plis + present.values.reduce(0) { $0 + $1.video.pliCount }
  }
}

extension SendStatistics {
  /// Bytes that were sent again, or protect others.
  fileprivate var repairBytes: UInt64 { bytesRetransmitted + fecBytesSent }
}
