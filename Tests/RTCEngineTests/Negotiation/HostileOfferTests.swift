import RTCDTLS
import RTCEngine
import RTCPrimitives
import RTCWire
import SDPKit
import Testing

@Suite struct HostileOfferTests {
  /// Offers with one byte changed are answered or refused, and what is answered can be read.
  @Test(arguments: [ChromiumOffers.call, FirefoxOffers.call, AiortcOffers.call, HandmadeOffers.webrtcbin].indices)
  func `a flipped byte is answered or refused`(_ index: Int) throws {
    let text = [ChromiumOffers.call, FirefoxOffers.call, AiortcOffers.call, HandmadeOffers.webrtcbin][index]
    let bytes = Array(text.utf8)
    let fresh = Peers.end("c", Peers.video(.sendrecv), Peers.audio(.sendrecv))
    var answered = 0
    for (step, position) in stride(from: 0, to: bytes.count, by: 13).enumerated() {
      var copy = bytes
      copy[position] = UInt8(truncatingIfNeeded: 0x20 + step % 0x5F)
      guard let offer = try? SessionDescription(parsing: String(decoding: copy, as: UTF8.self)) else { continue }
      var end = fresh
      guard (try? end.setRemoteOffer(offer)) != nil, let answer = try? end.createAnswer() else { continue }
      #expect(try SessionDescription(parsing: answer.description).media.count == offer.media.count)
      #expect(end.session?.transport.remoteFingerprints.contains(where: \.isCheckable) == true)
      answered += 1
    }
    #expect(answered > 0)
  }

  @Test func `lying retransmissions are not believed`() throws {
    var offer = try SessionDescription(parsing: HandmadeOffers.webrtcbin)
    // rtx that repeats itself, or a payload type that is not there.
    for apt in ["apt=97", "apt=300", "apt=", ""] {
      offer.media[0].payloads[1].parameters = FormatParameters(apt)
      var end = Peers.end("c", Peers.video())
      try end.setRemoteOffer(offer)
      let answer = try end.createAnswer()
      #expect(end.session?.media[0].sendCodec?.rtxPayloadType == nil)
      #expect(answer.media[0].formats == ["96"] && answer.media[0].sourceGroups.isEmpty)
    }
  }

  @Test func `header extension numbers that clash are not used`() throws {
    var offer = try SessionDescription(parsing: ChromiumOffers.receiver)
    offer.media[1].headerExtensions = [
      HeaderExtensionDescription(id: 4, uri: Peers.mid), HeaderExtensionDescription(id: 4_096, uri: Peers.mid),
      HeaderExtensionDescription(id: 15, uri: Peers.mid),
    ]
    var end = Peers.end("c", Peers.video(), Peers.audio())
    try end.setRemoteOffer(offer)
    _ = try end.createAnswer()
    #expect(end.session?.media[1].headerExtensions.isEmpty == true)
    #expect(end.session?.headerExtensions[4] == Peers.transportCC)
  }
}
