import RTCPrimitives
import RTCWire

/// Forward error correction of one video that is sent: cuts frames into blocks of equal length, and holds the repair packets
/// that are to leave behind each.
package struct FrameProtection {
  /// The frame that the repair packets belong to.
  struct Frame {
    var payloadTypes: CodecPayloadTypes
    var bytes: FrameBytes
  }

  package var controller = FECController()
  var encoder = FECEncoder()
  /// The payload type that packets of the present frame leave under; nil: their own.
  private(set) var red: PayloadType?
  /// Nil while nothing is protected.
  private(set) var frame: Frame?
  /// Packets of each block of the frame.
  private var blockSize = 0
  /// Blocks that are to follow the present one.
  private var blocksLeft = 0
  /// Packets that the block still lacks, as reckoned.
  private var lacking = 0
  private var nextSequence: SequenceNumber

  /// - Parameter firstSequenceNumber: of repair packets in a stream of their own.
  init(firstSequenceNumber: SequenceNumber) { nextSequence = firstSequenceNumber }

  /// Repair packets follow the packets that leave now.
  var isActive: Bool { blockSize > 0 }

  /// Repair packets are to leave.
  var hasPending: Bool { encoder.readyCount > 0 }

  /// A frame of about so many packets begins to leave.
  mutating func begin(packets: Int, _ format: FECFormat?) {
    encoder.cancel()
    // As in libwebrtc, all packets are wrapped from the first on.
    (red, frame, blockSize) = (format?.red, nil, 0)
    let blocks = (packets + FECEncoder.maximumBlock - 1) / FECEncoder.maximumBlock
    // Repair packets among the media's numbers must not come between packets of one frame: libwebrtc's receivers would
    // never find it whole.
    guard format != nil, blocks > 0, blocks == 1 || red == nil else { return }
    let size = (packets + blocks - 1) / blocks
    guard controller.repairPackets(for: size) > 0 else { return }
    blockSize = size
    blocksLeft = blocks
    beginBlock()
  }

  private mutating func beginBlock() {
    blocksLeft -= 1
    lacking = blockSize
    encoder.begin(repairPackets: controller.repairPackets(for: blockSize))
  }

  /// A packet of the frame was written.
  /// - Parameters:
  ///   - bytes: the packet without values that are filled in at sending.
  ///   - payload: the start of its payload, with a RED header if `red` is set.
  mutating func add(_ bytes: Span<UInt8>, _ packet: RetransmissionCache.Packet, payload: Int) {
    guard blockSize > 0 else { return }
    if !encoder.isOpen { beginBlock() }
    frame = Frame(payloadTypes: packet.payloadTypes, bytes: packet.frame)
    encoder.add(bytes, number: packet.number, timestamp: packet.timestamp, red: red == nil ? nil : payload)
    lacking -= 1
    // A frame may have more packets than was reckoned: they belong to its last block, as long as there is room.
    let isWhole = red == nil && (lacking <= 0 && blocksLeft > 0 || encoder.isFull)
    if packet.payload.isLast || isWhole { encoder.finish() }
  }

  /// The number of the next repair packet in a stream of its own.
  mutating func takeSequenceNumber() -> SequenceNumber {
    defer { nextSequence = nextSequence.advanced(by: 1) }
    return nextSequence
  }

  /// Discards all waiting repair packets.
  mutating func cancel() {
    encoder.cancel()
    (red, frame, blockSize) = (nil, nil, 0)
  }
}

extension FECFormat {
  /// The best format that the remote peer accepts; nil if we support none of its formats.
  init?(_ agreed: [NegotiatedCodec]) {
    func number(_ name: String) -> PayloadType? { agreed.first { $0.capability.name == name }?.payloadType }
    if let payloadType = number("flexfec-03") {
      self = .flexFEC(payloadType)
    } else if let payloadType = number("ulpfec"), let red = number("red") {
      self = .ulpfec(payloadType, red: red)
    } else {
      return nil
    }
  }
}
