import RTCEngine
import RTCPrimitives
import RTCWire
import SDPKit
import Testing

/// Offers as a browser's own peer connection takes them (RFC 8829 §5.10).
@Suite struct RemoteOffers {
  private let templates = [Peers.video(.recvonly), Peers.audio(.recvonly)]

  @Test(arguments: [ChromiumOffers.call, FirefoxOffers.call, AiortcOffers.call, HandmadeOffers.safari])
  func `browsers' calls are taken whole, by transceivers that only receive`(_ text: String) throws {
    let offer = try SessionDescription(parsing: text)
    var end = Peers.end("a")
    try end.setRemoteOffer(offer, making: templates)
    let media = offer.media.filter { $0.kind == .audio || $0.kind == .video }
    #expect(end.transceiverIDs.count == media.count)
    #expect(end.transceiverIDs.allSatisfy { end[$0].direction == .recvonly && end.mid(of: $0) != nil })
    #expect(end.remoteTracks.count == media.count { $0.direction.sends })
    let answer = try end.createAnswer()
    for (section, offered) in zip(answer.media, offer.media) where media.contains(offered) {
      #expect(!section.isRejected && section.direction == (offered.direction.sends ? .recvonly : .inactive))
    }
    #expect(!end.isNegotiationNeeded || offer.media.contains { !$0.direction.sends })
  }

  @Test
  func `a track added before the answer is sent in it, and one added before the offer takes up a fitting m-section`()
    throws
  {
    let offer = try SessionDescription(parsing: ChromiumOffers.call)
    var end = Peers.end("a")
    let waiting = end.add(Peers.video(.sendrecv), for: .track)
    let own = end.add(Peers.audio(.sendrecv), for: .ownSection)
    try end.setRemoteOffer(offer, making: templates)
    let made = try #require(end.transceiverIDs.last)
    #expect(end.transceiverIDs == [waiting, own, made] && end[made].kind == .audio)
    #expect(end.mid(of: own) == nil && end.mid(of: waiting) != nil)
    end.claim(made)
    end[made].direction = .sendrecv
    let answer = try end.createAnswer()
    #expect(answer.media.filter { $0.kind != .application }.allSatisfy { $0.direction == .sendrecv })
    // What has an m-section of its own still waits for our offer.
    #expect(end.isNegotiationNeeded)
    let next = try end.createOffer()
    #expect(next.media.count == offer.media.count + 1 && end.mid(of: own) == next.media.last?.mid)
  }

  @Test func `the m-section that carries a bundle's transport is kept, inactive, where nothing of its kind is cast`()
    throws
  {
    let offer = try SessionDescription(parsing: ChromiumOffers.call)
    let carrier = try #require(offer.bundles.first?.first)
    let audio = try #require(offer.index(mid: carrier))
    #expect(offer.media[audio].kind == .audio)
    var end = Peers.end("a", Peers.video())
    try end.setRemoteOffer(offer, keepingTransportBy: templates)
    let answer = try end.createAnswer()
    #expect(!answer.media[audio].isRejected && answer.media[audio].direction == .inactive)
    #expect(answer.bundles.first?.first == carrier)
    // Without a transceiver to keep it by, it is rejected and leaves the bundle.
    var plain = Peers.end("a", Peers.video())
    try plain.setRemoteOffer(offer)
    let other = try plain.createAnswer()
    #expect(other.media[audio].isRejected && other.bundles.first?.contains(carrier) == false)
  }

  @Test func `m-sections without a codec in common, or outside the bundle, get no transceiver and are turned off`()
    throws
  {
    var offer = try SessionDescription(parsing: ChromiumOffers.call)
    let video = try #require(offer.media.firstIndex { $0.kind == .video })
    offer.media[video].payloads = []
    var end = Peers.end("a")
    try end.setRemoteOffer(offer, making: templates)
    #expect(end.transceiverIDs.map { end[$0].kind } == [.audio])
    #expect(try end.createAnswer().media[video].isRejected)
    #expect(!end.isNegotiationNeeded)
  }

  @Test func `a far side cannot have transceivers made without end`() throws {
    var end = Peers.end("a")
    var offer = try SessionDescription(parsing: ChromiumOffers.call)
    let section = try #require(offer.media.first { $0.kind == .audio })
    for number in 100..<400 {
      offer.media.append(section)
      offer.media[offer.media.count - 1].mid = "\(number)"
      offer.bundles[0].append("\(number)")
    }
    try end.setRemoteOffer(offer, making: templates)
    #expect(end.transceiverIDs.count == 128)
    let answer = try end.createAnswer()
    #expect(answer.media.count == offer.media.count && answer.media.last?.isRejected == true)
  }

  @Test func `an m-section that was turned off is used again by the far side with a new transceiver`() throws {
    var far = Peers.end("f")
    let first = far.add(Peers.video(.sendrecv), for: .track)
    _ = far.add(Peers.audio(.sendrecv), for: .track)
    var end = Peers.end("a")
    func exchange() throws {
      try end.setRemoteOffer(far.createOffer(), making: templates)
      try far.setRemoteAnswer(end.createAnswer())
    }
    try exchange()
    let before = end.transceiverIDs
    far.stop(first)
    try exchange()
    #expect(end.isStopped(before[0]) && !end.isStopped(before[1]))
    #expect(end.remoteTracks.map(\.transceiver) == [before[1]])
    _ = far.add(Peers.video(.sendrecv, ssrc: 9_000), for: .track)
    try exchange()
    #expect(far.localDescription?.media.count == 2)
    #expect(end.transceiverIDs.count == 3 && end.remoteTracks.count == 2)
    #expect(!end.isNegotiationNeeded && !far.isNegotiationNeeded)
  }

  @Test func `m-sections that are stopped and used again do not make transceivers without end`() throws {
    var offer = try SessionDescription(parsing: ChromiumOffers.call)
    let index = try #require(offer.media.firstIndex { $0.kind == .video })
    let live = offer.media[index]
    var end = Peers.end("a")
    for round in 0..<2 * PeerLimits.transceiversInAll {
      offer.media[index] = live
      offer.media[index].mid = "v\(round)"
      offer.bundles = [offer.media.compactMap { $0.isRejected ? nil : $0.mid }]
      try end.setRemoteOffer(offer, making: templates)
      _ = try end.createAnswer()
      offer.media[index].port = 0
      offer.bundles = [offer.media.compactMap { $0.isRejected ? nil : $0.mid }]
      try end.setRemoteOffer(offer, making: templates)
      _ = try end.createAnswer()
    }
    #expect(end.transceiverIDs.count == PeerLimits.transceiversInAll)
  }
}
