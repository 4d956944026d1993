import RTCEngine
import RTCICE
package import RTCPrimitives
package import RTCWire

/// A signaling service between two peers that negotiate perfectly: it keeps the order, and takes its time.
struct Signaling {
  let polite: PeerPair.Side
  /// How long a description of this side takes.
  let delays: [PeerPair.Side: TimeDelta]
  private(set) var random: SeededGenerator
  private var messages: [(due: Timestamp, to: PeerPair.Side, description: Description)] = []
  private var offersDue: Set<PeerPair.Side> = []
  /// The offers that have left so far, by side.
  private(set) var offers: [PeerPair.Side: Int] = [:]

  init(polite: PeerPair.Side, delays: [PeerPair.Side: TimeDelta], seed: UInt64) {
    self.polite = polite
    self.delays = delays
    random = SeededGenerator(seed: seed)
  }

  mutating func take(_ events: [Event], from side: PeerPair.Side) {
    for case .negotiationNeeded in events { offersDue.insert(side) }
  }

  mutating func take(_ description: Description, from side: PeerPair.Side, now: Timestamp) {
    if case .offer = description.kind { offers[side, default: 0] += 1 }
    messages.append((now + (delays[side] ?? .zero), side.other, description))
  }

  /// When the next description arrives.
  var nextTime: Timestamp { messages.reduce(.distantFuture) { min($0, $1.due) } }

  mutating func nextMessage(by now: Timestamp) -> (to: PeerPair.Side, description: Description)? {
    guard let index = messages.firstIndex(where: { $0.due <= now }) else { return nil }
    let message = messages.remove(at: index)
    return (message.to, message.description)
  }

  mutating func nextOffer() -> PeerPair.Side? {
    guard let side: PeerPair.Side = offersDue.contains(.offerer) ? .offerer : offersDue.first else { return nil }
    offersDue.remove(side)
    return side
  }

  mutating func freshCredentials() -> ICECredentials { ICECredentials(using: &random) }
}

extension PeerPair {
  /// From now on both sides keep each other agreed by themselves.
  /// - Parameter delays: how long a description of this side takes; nothing where none is said.
  package func negotiatePerfectly(polite: Side = .answerer, delays: [Side: TimeDelta] = [:]) {
    signaling = Signaling(polite: polite, delays: delays, seed: options.seed ^ 0x5167)
  }

  /// Descriptions stay where they are made from now on; those on their way are lost.
  package func stopNegotiating() { signaling = nil }

  /// How many offers the side has made.
  package func offers(of side: Side) -> Int { signaling?.offers[side] ?? 0 }

  /// Fresh ICE credentials.
  package func freshCredentials() -> ICECredentials {
    var random = SeededGenerator(seed: UInt64(bitPattern: now.nanoseconds) ^ options.seed)
    return signaling?.freshCredentials() ?? ICECredentials(using: &random)
  }

  func serveSignaling() {
    while true {
      if let side = signaling?.nextOffer() {
        if self[side].peer.needsNegotiation { perform(side, .setLocalDescription(freshCredentials())) }
      } else if let (side, description) = signaling?.nextMessage(by: now) {
        let politeness: Politeness = signaling?.polite == side ? .polite : .impolite
        perform(side, .negotiate(description, politeness, freshCredentials()))
      } else {
        return
      }
    }
  }
}
