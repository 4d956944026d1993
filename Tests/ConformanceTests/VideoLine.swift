import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCWire

/// A video between two ends of ours: coded frames become RTP packets, and what comes of them becomes coded frames.
struct VideoLine {
  /// The conditions of the network.
  enum Network: CaseIterable {
    case perfect
    /// Packets overtake each other, also those of other frames, and some come twice.
    case reordered
    /// A fifth is lost, repairs too, and asked for again.
    case repaired
  }

  private static let media = SSRC(1)
  private static let repairs = SSRC(2)
  private static let interval = TimeDelta.milliseconds(100)

  private let codec: VideoCodec
  private var sender: VideoSender
  private(set) var receiver: VideoReceiveStream?
  private(set) var frames: [ReceivedFrame] = []
  private(set) var now = Timestamp.zero + .seconds(1)

  init(_ codec: VideoCodec) {
    self.codec = codec
    let identity = SendStreamIdentity(
      ssrc: Self.media, rtxSSRC: Self.repairs, fecSSRC: SSRC(3), cname: "", firstSequenceNumber: SequenceNumber(65_530),
      timestampOffset: RTPTimestamp(0), firstPictureID: 0x7FFC)
    let types = CodecPayloadTypes(media: PayloadType(96), rtx: PayloadType(97))
    sender = VideoSender(identity: identity, track: nil)
    sender.agree(
      on: SendStreamFormat(
        mid: nil, codecs: [(VideoPayloadFormat(codec: codec), types)], extensionMap: RTPHeaderExtensionMap()))
    _ = sender.updateSending(isSecured: true)
  }

  // MARK: - Sending

  /// The packets of the frame with this number.
  mutating func packets(of frame: ReferenceStream.Frame, number: Int) -> [[UInt8]] {
    let size = codec == .vp9 ? VP9FrameHeader(parsing: frame.data.span)?.size : nil
    _ = sender.send(
      EncodedFrame(
        codec: codec, data: frame.data, isKeyFrame: frame.isKeyFrame, size: size ?? PixelSize(width: 0, height: 0),
        captureTime: .zero + Self.interval * Int64(number), encodedTime: now, quantizer: 0, rotation: .none,
        contentHint: .motion, number: UInt64(number)),
      now: now, rate: .megabitsPerSecond(1_000), roundTrip: .zero)
    return departures()
  }

  private mutating func departures() -> [[UInt8]] {
    var packets: [[UInt8]] = []
    while sender.hasPending {
      var datagram = [UInt8](repeating: 0, count: 1_500)
      var span = datagram.mutableSpan
      let moment = DepartureFields(now: now, transportNumber: TransportSequenceNumber(0))
      guard case .written(let count, _, _)? = sender.writeUnprotected(into: &span, at: moment) else { break }
      packets.append(Array(datagram[..<count]))
    }
    return packets
  }

  // MARK: - Receiving

  /// The number of a frame that was received.
  static func number(of frame: ReceivedFrame) -> Int {
    Int(frame.timestamp.value) / Int(interval.ticks(atRate: 90_000))
  }

  mutating func receive(_ packet: [UInt8]) {
    now += .microseconds(500)
    guard let header = RTPHeader(parsing: packet.span) else { return }
    var payload = packet.span.extracting(header.payload)
    var number = header.sequenceNumber
    let isRepair = header.ssrc == Self.repairs
    if isRepair {
      guard let repeated = RTXPayloadHeader(parsing: payload) else { return }
      number = repeated.originalSequenceNumber
      payload = payload.extracting(RTXPayloadHeader.size..<payload.count)
    }
    if receiver == nil { receiver = VideoReceiveStream(ssrc: header.ssrc, first: number, now: now) }
    _ = receiver?.receive(
      header: VideoReceiveStream.Header(
        number: number, timestamp: header.timestamp, marker: header.marker, codec: codec),
      payload: payload, isRepair: isRepair, now: now, frames: &frames)
  }

  /// The packets that are asked for, when their time has come.
  mutating func repairs() -> [[UInt8]] {
    guard let due = receiver?.missing.nextRequest else { return [] }
    now = max(now, due)
    let asked = receiver?.repairsDue(now, roundTrip: .milliseconds(10), frames: &frames) ?? []
    for number in asked { sender.repair(number, history: SentPacketHistory(), now: now, interval: .zero) }
    return departures()
  }

  /// Gives up what does not come by itself, as where nothing is repaired.
  mutating func giveUp(after wait: TimeDelta) {
    now += wait
    _ = receiver?.repairsDue(now, roundTrip: .milliseconds(10), isAgreed: false, frames: &frames)
  }

  // MARK: - The whole way

  /// The frames that come of `stream`.
  static func carry(_ stream: ReferenceStream, over network: Network, seed: UInt64 = 1) -> [ReceivedFrame] {
    var line = VideoLine(stream.codec)
    var random = SeededGenerator(seed: seed)
    var underway: [(due: Double, packet: [UInt8])] = []
    for (number, frame) in stream.frames.enumerated() {
      let packets = line.packets(of: frame, number: number)
      // A key frame that comes before what was sent before it makes that needless.
      if frame.isKeyFrame { line.receiveAll(&underway) }
      switch network {
      case .perfect: for packet in packets { line.receive(packet) }
      case .reordered:
        for packet in packets {
          let position = Double(underway.count)
          underway.append((position + 6 * random.nextUnit(), packet))
          if random.nextUnit() < 0.1 { underway.append((position + 9 * random.nextUnit(), packet)) }
        }
      case .repaired:
        let following = stream.frames.dropFirst(number + 1).first
        line.receiveSome(packets, isFirst: number == 0, isLast: following?.isKeyFrame ?? true, &random)
      }
    }
    line.receiveAll(&underway)
    return line.frames
  }

  private mutating func receiveAll(_ underway: inout [(due: Double, packet: [UInt8])]) {
    for (_, packet) in underway.sorted(by: { $0.due < $1.due }) { receive(packet) }
    underway = []
  }

  /// - Parameter isLast: nothing follows, or a key frame, which makes needless what did not come before it.
  private mutating func receiveSome(
    _ packets: [[UInt8]], isFirst: Bool, isLast: Bool, _ random: inout SeededGenerator
  ) {
    for (index, packet) in packets.enumerated() {
      // What nothing has come before, or comes after, is not known to be missing.
      let isNeeded = isFirst && index == 0 || isLast
      if isNeeded || random.nextUnit() >= 0.2 { receive(packet) }
    }
    for _ in 0..<4 { for packet in repairs() where isLast || random.nextUnit() >= 0.2 { receive(packet) } }
  }
}
