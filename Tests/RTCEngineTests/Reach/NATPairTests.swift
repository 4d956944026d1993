import Foundation
import RTCEngine
import RTCICE
import RTCPrimitives
import RTCTestKit
import Testing

/// Whole peers behind NATs: gathering, trickle, DTLS and a picture, by the way that there is.
@Suite struct NATPairTests {
  static let kinds: [NATKind?] = [nil] + NATKind.all + [.blockingUDP]

  private func options(_ a: NATKind?, _ b: NATKind?) -> NATPair.Options {
    var options = NATPair.Options()
    options.kinds[.offerer] = a
    options.kinds[.answerer] = b
    return options
  }

  private func name(_ a: NATKind?, _ b: NATKind?) -> String {
    [a, b].map { kind in kind.map { "\($0)" } ?? "none" }.joined(separator: " to ")
  }

  @Test(arguments: kinds) func `peers trickle, connect and show a picture behind every NAT`(a: NATKind?) throws {
    for b in Self.kinds {
      let pair = try NATPair(options(a, b))
      let time = pair.connect()
      #expect(time.map { $0 <= .milliseconds(1_000) } == true, "\(name(a, b)): \(String(describing: time))")
      pair[.offerer].source = SyntheticVideo(from: pair.world.now)
      pair.world.run(for: .seconds(3))
      #expect(pair[.answerer].frames.count > 60, "\(name(a, b))")
    }
  }

  @Test func `each seed of loss and reordering connects two peers`() throws {
    for seed in TestSeeds.all {
      var random = SeededGenerator(seed: seed)
      var options = options(Self.kinds.randomElement(using: &random)!, Self.kinds.randomElement(using: &random)!)
      options.seed = seed
      options.conditions = .delayed(.milliseconds(5 + Int64(random.next() % 60)))
      options.conditions.loss = 0.1 * random.nextUnit()
      options.conditions.jitter = .milliseconds(Int64(random.next() % 40))
      options.conditions.reorders = true
      let pair = try NATPair(options)
      #expect(pair.connect(within: .seconds(14)) != nil, "seed \(seed)")
    }
  }

  @Test func `peers that gather first connect as well`() throws {
    for b in Self.kinds {
      var options = options(NATKind(mapping: .addressDependent, filtering: .addressAndPortDependent), b)
      options.trickles = false
      let pair = try NATPair(options)
      #expect(pair.connect() != nil, "\(name(nil, b))")
      #expect(pair[.offerer].localDescription?.contains("end-of-candidates") == true)
    }
  }

  @Test func `a policy of relays uses nothing else`() throws {
    var options = options(nil, nil)
    options.policy = .relay
    let pair = try NATPair(options)
    #expect(pair.connect() != nil)
    for side in [PeerPair.Side.offerer, .answerer] {
      guard case .relay? = pair.routes[side]?.kind else {
        Issue.record("\(side) sends by \(String(describing: pair.routes[side]))")
        continue
      }
    }
  }

  @Test func `a picture goes by ChannelData, and only checks of other ways by indications`() throws {
    let pair = try NATPair(options(.blockingUDP, .blockingUDP))
    #expect(pair.connect() != nil)
    pair[.offerer].source = SyntheticVideo(from: pair.world.now)
    pair.world.run(for: .seconds(2))
    let before = pair.world.servers[0].emulator.relayed
    pair.world.run(for: .seconds(10))
    let after = pair.world.servers[0].emulator.relayed
    let (data, indications) = (after.channelData - before.channelData, after.indications - before.indications)
    // ICE still tries other ways now and then.
    #expect(data > 500 && indications < data / 20, "\(data) and \(indications)")
  }

  @Test func `an hour behind hasty NATs is one connection`() throws {
    var kind = NATKind(mapping: .addressAndPortDependent, filtering: .addressAndPortDependent)
    kind.timeout = .seconds(20)
    let pair = try NATPair(options(kind, kind))
    #expect(pair.connect() != nil)
    pair.world.run(for: .seconds(3_600))
    #expect(pair.areConnected && pair[.offerer].states.map(\.state).last == .connected)
  }
}
