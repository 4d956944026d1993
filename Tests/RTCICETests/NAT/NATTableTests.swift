import RTCICE
import RTCPrimitives
import RTCTestKit
import Testing

/// Every pair of NAT kinds connects by the path that theory allows, and in time.
@Suite struct NATTableTests {
  /// No NAT, all nine kinds, and no UDP.
  static let kinds: [NATKind?] = [nil] + NATKind.all + [.blockingUDP]

  private func expected(_ a: NATKind?, _ b: NATKind?) -> NATPath { NATPath.best(from: a, to: b) }

  @Test(arguments: kinds) func `each NAT connects to each other`(a: NATKind?) {
    for b in Self.kinds {
      let pair = NATAgentPair(.init(a: a, b: b))
      let time = pair.connect()
      let name = "\(a.map { "\($0)" } ?? "none") to \(b.map { "\($0)" } ?? "none")"
      #expect(pair.areConnected, "\(name)")
      // Media may begin by a way that was found sooner.
      pair.world.run(for: .seconds(3)) { pair.path == expected(a, b) }
      #expect(pair.path == expected(a, b), "\(name)")
      #expect(time <= .milliseconds(1_000), "\(name) took \(time.milliseconds) ms")
      pair.exchangeMedia()
      #expect(pair.media == [[0x80, 1], [0x80, 0]], "\(name)")
    }
  }

  @Test func `each seed of loss and reordering connects two NATs by the best path`() {
    for seed in TestSeeds.all {
      var random = SeededGenerator(seed: seed)
      let (a, b) = (Self.kinds.randomElement(using: &random)!, Self.kinds.randomElement(using: &random)!)
      var conditions = NetworkConditions.lossy(
        0.15 * random.nextUnit(), delay: .milliseconds(5 + Int64(random.next() % 60)))
      conditions.jitter = .milliseconds(Int64(random.next() % 50))
      conditions.reorders = true
      conditions.duplication = 0.02
      let pair = NATAgentPair(.init(a: a, b: b), seed: seed, conditions: conditions)
      let time = pair.connect(within: .seconds(20))
      let name = "seed \(seed): \(a.map { "\($0)" } ?? "none") to \(b.map { "\($0)" } ?? "none")"
      #expect(pair.areConnected, "\(name)")
      #expect(time <= .seconds(10), "\(name) took \(time.milliseconds) ms")
      pair.world.run(for: .seconds(30)) { pair.path == expected(a, b) }
      #expect(pair.path == expected(a, b), "\(name)")
    }
  }

  @Test func `what theory allows is what the books say`() {
    let fullCone = NATKind(mapping: .endpointIndependent, filtering: .endpointIndependent)
    let restricted = NATKind(mapping: .endpointIndependent, filtering: .addressDependent)
    let portRestricted = NATKind(mapping: .endpointIndependent, filtering: .addressAndPortDependent)
    let symmetric = NATKind(mapping: .addressAndPortDependent, filtering: .addressAndPortDependent)
    let cones = [fullCone, restricted, portRestricted]
    for a in cones { for b in cones { #expect(expected(a, b) == .translated) } }
    #expect(expected(fullCone, symmetric) == .translated && expected(restricted, symmetric) == .translated)
    #expect(expected(portRestricted, symmetric) == .relayed && expected(symmetric, symmetric) == .relayed)
    #expect(expected(nil, symmetric) == .translated && expected(nil, nil) == .host)
    for kind in Self.kinds { #expect(expected(kind, .blockingUDP) == .relayed) }
  }

  @Test(arguments: NATKind.all) func `hosts of one site meet at home`(kind: NATKind) {
    let pair = NATAgentPair(.init(a: kind, b: kind, site: .shared))
    let time = pair.connect()
    #expect(pair.areConnected && pair.path == .host && time <= .milliseconds(500))
  }

  @Test(arguments: NATKind.all) func `hosts that are kept apart meet by the NAT's outside, or by the relay`(
    kind: NATKind
  ) {
    for hairpins in [true, false] {
      var kind = kind
      kind.hairpins = hairpins
      let pair = NATAgentPair(.init(a: kind, b: kind, site: .isolated))
      let time = pair.connect()
      let isTranslated = hairpins && NATPath.best(from: kind, to: kind, isHairpin: true) == .translated
      pair.world.run(for: .seconds(3)) { pair.path == .translated }
      #expect(
        pair.areConnected && pair.path == (isTranslated ? .translated : .relayed), "\(kind), hairpin: \(hairpins)")
      #expect(time <= .milliseconds(1_500), "\(kind), hairpin: \(hairpins), took \(time.milliseconds) ms")
    }
  }

  @Test func `a call lasts where the NAT forgets within 20 seconds`() {
    for kind in NATKind.all {
      var kind = kind
      kind.timeout = .seconds(20)
      let pair = NATAgentPair(.init(a: kind, b: kind))
      _ = pair.connect()
      pair.world.run(for: .seconds(1_800))
      #expect(pair.areConnected, "\(kind)")
      #expect(!pair.a.events.contains(.stateChanged(.disconnected)), "\(kind)")
    }
  }
}
