import RTCMedia
import RTCPrimitives
import RTCWire

/// The frames of one video that wait for the pacer, and the frames that the viewer's decoder can use next.
///
/// Payload bytes stay in the encoded frame, which all viewers share; they are copied once, into the datagram.
struct FrameQueue {
  /// A frame that waits, or whose first packets have left.
  private struct Waiting {
    var frame: FrameBytes
    var split: Packetizer
    /// The approximate number of its packets.
    var packets: Int
    var isBegun = false
    var payloadTypes: CodecPayloadTypes
    var timestamp: RTPTimestamp
    var queued: Timestamp
  }

  /// The payload of one packet, and its frame.
  struct Piece {
    var payload: PayloadPiece
    var frame: FrameBytes
    var payloadTypes: CodecPayloadTypes
    var timestamp: RTPTimestamp
    /// When the frame was queued.
    var queued: Timestamp
    /// The approximate number of the frame's packets, with its first packet; nil with the others.
    var packetsOfNewFrame: Int?
  }

  /// The frames that the viewer's decoder can use next.
  private enum Decodable {
    /// Only a key frame: the viewer has no picture, or a frame was left out.
    case keyFrameOnly
    /// Only a key frame, because the network is too slow: request it when the waiting packets were sent, not earlier.
    case keyFrameOnceDrained
    /// Frames that refer to sent frames of a rendition.
    case frames(SentFrames)
  }

  private var frames: [Waiting] = []
  private var decodable = Decodable.keyFrameOnly
  private var nextPictureID: UInt16
  /// The payload types of the frames since the last key frame.
  private(set) var payloadTypes: CodecPayloadTypes?

  /// The maximum time for the waiting frames; beyond it, the network is too slow: frames are left out until a later key
  /// frame. A key frame being sent is not counted, as the viewer waits for it.
  static let maximumTime = TimeDelta.milliseconds(600)
  /// The time for waiting frames beyond which frames of upper layers are left out.
  static let upperLayerTime = TimeDelta.milliseconds(150)

  init(firstPictureID: UInt16) { nextPictureID = firstPictureID & 0x7FFF }

  /// Reserves memory for the frames of a slow network.
  mutating func reserve() { frames.reserveCapacity(16) }

  var isEmpty: Bool { frames.isEmpty }

  /// Bytes that wait.
  var bytes: Int { frames.reduce(0) { $0 + $1.split.remainingBytes(of: $1.frame) } }

  /// The approximate number of packets that wait.
  var packets: Int {
    frames.reduce(0) { $0 + 1 + $1.split.remainingBytes(of: $1.frame) / VideoPacketHeaders.maximumPacketSize }
  }

  /// A key frame waits.
  var hasKeyFrame: Bool { frames.contains { $0.frame.isKeyFrame } }

  /// A key frame is the next to leave.
  var beginsWithKeyFrame: Bool { frames.first.map { $0.frame.isKeyFrame && !$0.isBegun } ?? false }

  // MARK: - Frames in

  /// Queues `frame`, or leaves it out if the viewer could not decode it or the network is too slow. Another rendition
  /// begins with its key frame; its other frames are useless to a viewer of the present one.
  /// - Parameter rate: the pacer's rate.
  /// - Returns: false if a key frame is needed before anything can be sent; see `popKeyFrameRequest`.
  mutating func add(
    _ frame: EncodedFrame, _ headers: VideoPacketHeaders, now: Timestamp, rate: BitRate,
    counting statistics: inout SendStatistics
  ) -> Bool {
    guard headers.format.takes(frame.codec) else {
      statistics.framesSkipped += 1
      return true  // no key frame would help
    }
    var differences: VP9References?
    if frame.isKeyFrame {
      cut(counting: &statistics)  // a key frame makes everything before it needless
      payloadTypes = headers.format.payloadTypes(for: frame)
      decodable = .frames(SentFrames(keyFrame: frame))
      if case .frames = frame.references { differences = [] }
    } else {
      if case .frames(let sent) = decodable, sent.rendition != frame.rendition {
        statistics.framesSkipped += 1
        return true
      }
      // Frames that no other frame needs do not delay necessary ones.
      if frame.layer.temporal > 0, rate.time(forBytes: bytesWithoutKeyFrames) > Self.upperLayerTime {
        statistics.framesSkipped += 1
        return true
      }
      if rate.time(forBytes: bytesWithoutKeyFrames) > Self.maximumTime {
        cut(counting: &statistics)
        decodable = .keyFrameOnceDrained
      }
      if case .frames(let sent) = decodable { differences = sent.differences(of: frame) }
      guard case .frames(var sent) = decodable, sent.add(frame) else {
        if case .frames = decodable { decodable = .keyFrameOnly }
        statistics.framesSkipped += 1
        return false
      }
      decodable = .frames(sent)
    }
    // An encoder marks an unchanged picture by a frame without bytes.
    guard !frame.data.isEmpty, let payloadTypes else { return true }
    let bytes = FrameBytes(frame)
    let room = headers.maximumPayload(of: bytes, payloadTypes)
    let split = Packetizer(frame, pictureID: nextPictureID, differences: differences, room: room)
    guard !split.isAtEnd else {  // no frame of its codec
      decodable = .keyFrameOnly
      statistics.framesSkipped += 1
      return true
    }
    frames.append(
      Waiting(
        frame: bytes, split: split, packets: Self.packetCount(of: bytes, room: room), payloadTypes: payloadTypes,
        timestamp: headers.rtpTimestamp(frame.captureTime), queued: now))
    nextPictureID = (nextPictureID + 1) & 0x7FFF
    return true
  }

  /// The approximate number of a frame's packets. It is exact for VP8, whose packets each begin with four bytes of their
  /// own.
  private static func packetCount(of frame: FrameBytes, room: Int) -> Int {
    (frame.data.count + room - 5) / (room - 4)
  }

  /// Bytes of the frames that wait, key frames aside.
  private var bytesWithoutKeyFrames: Int {
    frames.reduce(0) { $1.frame.isKeyFrame ? $0 : $0 + $1.split.remainingBytes(of: $1.frame) }
  }

  /// Drops whole frames that have not begun to leave.
  private mutating func cut(counting statistics: inout SendStatistics) {
    let before = frames.count
    frames.removeAll { !$0.isBegun }
    statistics.framesSkipped += UInt64(before - frames.count)
  }

  // MARK: - Packets out

  /// Takes out the payload of the next packet.
  mutating func next() -> Piece? {
    guard !frames.isEmpty else { return nil }
    guard let payload = frames[0].split.next(in: frames[0].frame) else {
      frames.removeFirst()
      return nil
    }
    let piece = Piece(
      payload: payload, frame: frames[0].frame, payloadTypes: frames[0].payloadTypes, timestamp: frames[0].timestamp,
      queued: frames[0].queued, packetsOfNewFrame: frames[0].isBegun ? nil : frames[0].packets)
    if payload.isLast { frames.removeFirst() } else { frames[0].isBegun = true }
    return piece
  }

  // MARK: - Key frames

  /// Whether the source should make a key frame now: always while the viewer has nothing to decode from, and once when
  /// the queue has drained since frames were left out for its length.
  /// - Parameter isDrained: no packet waits.
  mutating func popKeyFrameRequest(isDrained: Bool) -> Bool {
    switch decodable {
    case .keyFrameOnly: return true
    case .keyFrameOnceDrained where isDrained:
      decodable = .keyFrameOnly
      return true
    case .keyFrameOnceDrained, .frames: return false
    }
  }

  /// True while the viewer has nothing to decode from.
  var needsKeyFrame: Bool { if case .keyFrameOnly = decodable { true } else { false } }

  /// True while a key frame is to be requested when the queue has drained.
  var needsKeyFrameOnceDrained: Bool { if case .keyFrameOnceDrained = decodable { true } else { false } }

  /// Drops all frames; the next frame must be a key frame.
  mutating func dropAll(counting statistics: inout SendStatistics) {
    statistics.framesSkipped += UInt64(frames.count)
    frames.removeAll(keepingCapacity: true)
    decodable = .keyFrameOnly
  }

  /// Payload types or codecs are others: the next frame must be a key frame.
  mutating func formatChanged() {
    payloadTypes = nil
    decodable = .keyFrameOnly
  }
}

/// The frames of one rendition that a viewer was sent since its key frame: the newest, and which of the 63 before it.
private struct SentFrames {
  let rendition: Rendition
  private var newest: UInt64
  /// Bit n: the frame n before the newest.
  private var mask: UInt64 = 1

  init(keyFrame: EncodedFrame) {
    rendition = keyFrame.rendition
    newest = keyFrame.number
  }

  /// Adds a frame that the viewer can decode.
  /// - Returns: false for one that it cannot.
  mutating func add(_ frame: EncodedFrame) -> Bool {
    let distance = frame.number &- newest
    guard distance > 0, distance < .max / 2 else { return false }
    switch frame.references {
    case .previous: guard distance == 1 else { return false }
    case .frames(let numbers): guard numbers.allSatisfy({ contains($0) }) else { return false }
    }
    mask = distance < 64 ? mask << distance | 1 : 1
    newest = frame.number
    return true
  }

  /// The distances of the frames that `frame` refers to, counted in frames that the viewer was sent; nil if it names no
  /// frames, or a frame that the viewer does not have.
  func differences(of frame: EncodedFrame) -> VP9References? {
    guard case .frames(let numbers) = frame.references, numbers.count <= VP9References.maximumCount else { return nil }
    var differences: VP9References = []
    for number in numbers {
      guard contains(number) else { return nil }
      let sentSince = mask & ((1 << (newest &- number)) - 1)
      differences.append(UInt8(sentSince.nonzeroBitCount + 1))
    }
    return differences
  }

  private func contains(_ number: UInt64) -> Bool {
    let age = newest &- number
    return age < 64 && mask >> age & 1 == 1
  }
}
