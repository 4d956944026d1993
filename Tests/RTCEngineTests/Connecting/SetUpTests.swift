import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// How long it takes from the offer to the first pictures, in whatever order things arrive, and what one loss costs.
@Suite struct SetUpTests {
  /// A call with a picture each way. The answer takes its time, media does not.
  private func call(answerTakes delay: TimeDelta = .zero, seed: UInt64 = 1) throws -> PeerPair {
    var options = PeerPair.Options.call(seed: seed)
    options.conditions = .delayed(.milliseconds(1))
    let pair = try PeerPair(options)
    pair.negotiatePerfectly(delays: [.answerer: delay])
    pair.recordsDepartures = true
    // The answerer takes up the m-section that comes instead of offering one too.
    pair.perform(.answerer, .startConfiguration)
    for side in [PeerPair.Side.answerer, .offerer] {
      let id = pair.addTrack(.video, "camera", on: side)
      pair[side].sources[id] = SyntheticVideo(from: pair.now)
    }
    return pair
  }

  private func havePictures(_ pair: PeerPair) -> Bool { !pair.offerer.frames.isEmpty && !pair.answerer.frames.isEmpty }

  /// From the offer to the first picture on both sides.
  private func firstPictures(_ pair: PeerPair) -> TimeDelta {
    let start = pair.now
    pair.run(for: .seconds(10), until: havePictures)
    return pair.now - start
  }

  private let interval = TimeDelta.milliseconds(34)

  @Test(arguments: [0, 1, 2, 3, 5, 10, 40, 120, 400])
  func `checks and handshakes that overtake the answer cost nothing`(milliseconds: Int64) throws {
    let pair = try call(answerTakes: .milliseconds(milliseconds))
    let time = firstPictures(pair)
    // Two round trips of checks, three of the handshake, and the wait for the next picture.
    #expect(time <= .milliseconds(milliseconds) + .milliseconds(12) + interval * 2 + .milliseconds(15), "took \(time)")
    // Nobody believes the other in its own role.
    #expect(!pair.departures.contains { $0.kind == .stun && $0.bytes[0] == 0x01 && $0.bytes[1] == 0x11 })
    // Nobody asked for what was on its way.
    #expect(pair.offerer.keyFrameRequests.count == 1 && pair.answerer.keyFrameRequests.count == 1)
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>) func `roles agree whoever's number is larger`(seed: UInt64) throws {
    let pair = try call(answerTakes: .milliseconds(20), seed: seed)
    _ = firstPictures(pair)
    #expect(pair.areConnected)
    #expect(!pair.departures.contains { $0.kind == .stun && $0.bytes[0] == 0x01 && $0.bytes[1] == 0x11 })
  }

  @Test(arguments: [PeerPair.Side.offerer, .answerer]) func `one lost datagram costs no pause that anybody notices`(
    of side: PeerPair.Side
  ) throws {
    for answer in [0, 20] as [Int64] {
      let undisturbed = try firstPictures(call(answerTakes: .milliseconds(answer)))
      for lost in 0..<24 {
        let pair = try call(answerTakes: .milliseconds(answer))
        var count = 0
        pair.filter = { sender, _ in
          guard sender == side else { return true }
          defer { count += 1 }
          return count != lost
        }
        let time = firstPictures(pair)
        #expect(time <= undisturbed + .milliseconds(400), "datagram \(lost), answer after \(answer) ms: \(time)")
      }
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>) func `reordered datagrams cost no more than they are late`(
    seed: UInt64
  ) throws {
    let pair = try call(answerTakes: .milliseconds(5), seed: seed)
    var conditions = NetworkConditions.delayed(.milliseconds(1))
    conditions.jitter = .milliseconds(10)
    conditions.reorders = true
    pair.network.setConditions(conditions)
    let time = firstPictures(pair)
    #expect(time <= .milliseconds(400), "took \(time)")
  }

  /// Chromium's, with keys that quantum computers cannot break, is so long.
  @Test func `a first message in two datagrams that both come before a path is proved is kept whole`() throws {
    let pair = try call()
    var checks = 0
    // The offerer, who is the client, is answered; its own answers are lost, and what it says of DTLS before it is
    // answered too.
    pair.filter = { [unowned pair] side, kind in
      guard side == .offerer else { return true }
      if kind == .stun { checks += 1 }
      return kind == .stun && checks == 1
        || kind == .dtls && pair.departures.contains { $0.side == .answerer && $0.kind == .dtls }
    }
    pair.run(for: .milliseconds(30))
    let message = try #require(pair.departures.first { $0.side == .offerer && $0.kind == .dtls })
    for datagram in halves(of: message.bytes) { pair.inject(datagram, into: .answerer) }
    #expect(!pair.departures.contains { $0.side == .answerer && $0.kind == .dtls })
    pair.filter = { [unowned pair] side, kind in
      side == .answerer || kind != .dtls || pair.departures.contains { $0.side == .answerer && $0.kind == .dtls }
    }
    pair.run(for: .milliseconds(300)) { $0.areConnected }
    #expect(pair.areConnected)
  }

  /// The one handshake message of a datagram as two fragments, each a datagram (RFC 6347 §4.2.3).
  private func halves(of datagram: [UInt8]) -> [[UInt8]] {
    let body = Array(datagram[25...])
    let middle = body.count / 2
    return [0..<middle, middle..<body.count].enumerated().map { number, part in
      let whole = part.count + 12
      var fragment = Array(datagram[0..<3])
      fragment += [0, 0, 0, 0, 0, 0, 0, UInt8(number), UInt8(whole >> 8), UInt8(whole & 0xFF)]
      fragment += datagram[13..<19]
      for value in [part.lowerBound, part.count] { fragment += [0, UInt8(value >> 8), UInt8(value & 0xFF)] }
      fragment += body[part]
      return fragment
    }
  }
}
