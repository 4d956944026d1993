import FeatureKit
import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Which way up a picture is travels beside it.
@Suite struct Rotations {
  /// True for each packet that says a turn.
  private func saysTurn(_ pair: PeerPair, _ identifier: UInt8) -> [Bool] {
    pair.departures.compactMap { departure in
      guard departure.side == .offerer, let header = departure.header else { return nil }
      var elements = header.extensionElements(in: departure.bytes.span)
      while let element = elements.next() { if element.id == identifier { return true } }
      return false
    }
  }

  @Test(.feature("S0.72", "S4.40")) func `an upright picture carries no word of it, a turned one is turned there`()
    throws
  {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    let offer = try SessionDescription(parsing: #require(pair.offerer.localDescription))
    let named = offer.media[0].headerExtensions.first { $0.uri == "urn:3gpp:video-orientation" }
    let identifier = UInt8(try #require(named).id)
    var source = SyntheticVideo(from: pair.now)
    for (rotation, isSaid) in [(VideoRotation.none, false), (.clockwise90, true), (.half, true), (.clockwise270, true)]
    {
      pair.recordsDepartures = true
      let before = pair.departures.count
      source.needsKeyFrame = true
      var frame = source.next(pair.now)
      frame.rotation = rotation
      pair.send(frame, from: .offerer)
      pair.run(for: .milliseconds(500))
      #expect(pair.departures.count > before)
      #expect(saysTurn(pair, identifier).contains(true) == isSaid)
      #expect(pair.receiver.frames.last?.rotation == rotation)
    }
  }
}
