import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

@Suite struct ColorSpaces {
  /// The identifier that our offers give to the extension.
  private let identifier: UInt8 = 7

  private func described(_ pair: PeerPair, _ colorSpace: ColorSpace?) -> [(isLast: Bool, value: ColorSpaceDescription?)]
  {
    pair.recordsDepartures = true
    var source = SyntheticVideo(from: pair.now)
    source.colorSpace = colorSpace
    pair.sender.source = source
    pair.run(for: .milliseconds(100))
    return pair.departures.compactMap { departure in
      guard let header = departure.header else { return nil }
      var elements = header.extensionElements(in: departure.bytes.span)
      var value: ColorSpaceDescription?
      while let element = elements.next() {
        guard element.id == identifier else { continue }
        value = ColorSpaceDescription(parsing: departure.bytes.span.extracting(element.range))
      }
      return (header.marker, value)
    }
  }

  @Test func `key frames say what their samples mean, others do not`() throws {
    for (colorSpace, value) in [
      (ColorSpace.bt709Limited, ColorSpaceDescription.bt709Limited), (.bt601Limited, .bt601Limited),
      (.bt709Full, .bt709Full),
    ] {
      let pair = try PeerPair()
      try #require(pair.connect() != nil)
      #expect(pair.sender.peer.statistics.supportsColorSpace)
      let packets = described(pair, colorSpace)
      let found = packets.firstIndex { $0.isLast }
      let last = try #require(found)
      #expect(packets[...last].allSatisfy { $0.value == value })
      #expect(packets.count > last + 1 && packets[(last + 1)...].allSatisfy { $0.value == nil })
      pair.run(for: .milliseconds(100))
      #expect(!pair.receiver.frames.isEmpty && pair.receiver.frames.allSatisfy { $0.colorSpace == colorSpace })
    }
  }

  @Test func `nothing is said of what nobody knows`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    #expect(described(pair, nil).allSatisfy { $0.value == nil })
  }

  @Test func `a far side without the extension is told nothing, and the statistics say so`() throws {
    var options = PeerPair.Options()
    options.rewrite = { _, description in
      description.split(separator: "\r\n").filter { !$0.contains("color-space") }.joined(separator: "\r\n") + "\r\n"
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    #expect(!pair.sender.peer.statistics.supportsColorSpace)
    #expect(described(pair, .bt709Limited).allSatisfy { $0.value == nil })
  }
}
