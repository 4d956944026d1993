import RTCCapture
import RTCCaptureFile

/// The bytes of a hexadecimal dump.
func hex(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

// Expectations cannot hold spans themselves.

extension H264Rewriter {
  init?(_ extradata: [UInt8]) { self.init(extradata: extradata.span) }
  mutating func rewrite(_ packet: [UInt8]) -> Picture? { rewrite(packet.span) }
}

extension VP9Rewriter {
  mutating func rewrite(_ packet: [UInt8]) -> Outcome { rewrite(packet.span) }

  mutating func picture(_ packet: [UInt8]) -> Picture? {
    if case .picture(let picture) = rewrite(packet.span) { picture } else { nil }
  }
}

extension AV1Rewriter {
  init(_ extradata: [UInt8]) { self.init(extradata: extradata.span) }
  mutating func rewrite(_ packet: [UInt8]) -> Picture? { rewrite(packet.span) }
}
