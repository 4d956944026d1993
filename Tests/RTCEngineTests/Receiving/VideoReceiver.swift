import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCWire

/// A stream, the pictures it has made, and packets made by hand.
struct VideoReceiver {
  var stream: VideoReceiveStream
  var frames: [ReceivedFrame] = []
  var now = Timestamp.zero + .seconds(1)

  init(first: UInt16) { stream = VideoReceiveStream(ssrc: SSRC(1), first: SequenceNumber(first), now: now) }

  /// The numbers of the pictures, as `frame:` gave them.
  var shown: [UInt32] { frames.map { $0.timestamp.value / 3_000 } }

  @discardableResult
  mutating func take(
    _ number: Int, frame: Int, payload: [UInt8], isLast: Bool = true, isRepair: Bool = false,
    codec: VideoCodec = .vp8, extensions: VideoExtensions = VideoExtensions()
  ) -> VideoReceiveStream.Outcome {
    stream.receive(
      header: VideoReceiveStream.Header(
        number: SequenceNumber(UInt16(truncatingIfNeeded: number)),
        timestamp: RTPTimestamp(UInt32(truncatingIfNeeded: frame * 3_000)), marker: isLast, codec: codec,
        extensions: extensions),
      payload: payload.span, isRepair: isRepair, now: now, frames: &frames)
  }

  /// Asks for repairs as long as that takes, and gets none.
  mutating func failRepair() {
    while let next = stream.missing.nextRequest {
      now = next
      _ = stream.repairsDue(now, roundTrip: .milliseconds(20), frames: &frames)
    }
  }

  /// A whole picture of VP8 in one packet.
  static func vp8(
    key: Bool = false, base: UInt8? = nil, layer: UInt8 = 0, isSync: Bool = false, isFirst: Bool = true
  ) -> [UInt8] {
    var descriptor = VP8PayloadDescriptor(startsPartition: isFirst, partition: 0)
    if let base {
      descriptor.pictureID = VP8PictureID(UInt16(base))
      descriptor.baseLayerIndex = base
      descriptor.temporalLayer = VP8PayloadDescriptor.TemporalLayer(index: layer, isSync: isSync)
    }
    var bytes = [UInt8](repeating: 0, count: descriptor.size)
    do {
      var writer = ByteWriter(bytes.mutableSpan)
      descriptor.write(into: &writer)
    }
    return bytes + (key ? [0x10, 0x02, 0x00, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0x68, 0x01] : [0x11, 0x02, 0x00]) + [7, 7]
  }

  /// A whole picture of VP9 in flexible mode.
  static func vp9(_ picture: UInt16, needs: [UInt8]) -> [UInt8] {
    // I, P, F, B, E; a picture number of 15 bits; the differences.
    var bytes: [UInt8] = [0x80 | (needs.isEmpty ? 0 : 0x40) | 0x10 | 0x08 | 0x04]
    bytes += [0x80 | UInt8(picture >> 8 & 0x7F), UInt8(truncatingIfNeeded: picture)]
    for (index, difference) in needs.enumerated() { bytes.append(difference << 1 | (index + 1 < needs.count ? 1 : 0)) }
    return bytes + [needs.isEmpty ? 0x82 : 0x86, 1, 2, 3]
  }

  /// A whole picture of VP9 in temporal layers, at a point where higher ones may begin.
  static func vp9(layer: UInt8, base: UInt8, isKey: Bool = false) -> [UInt8] {
    // P, L, B, E; TID and U; TL0PICIDX.
    [(isKey ? 0 : 0x40) | 0x20 | 0x08 | 0x04, layer << 5 | 0x10, base, isKey ? 0x82 : 0x86, 1, 2, 3]
  }
}
