import RTCPrimitives
import RTCTestKit

/// How two hosts reach each other.
enum NATPath: Hashable {
  /// By the addresses that they have.
  case host
  /// By an address that a NAT gives one of them.
  case translated
  /// By a TURN server.
  case relayed

  /// The best path there can be, found by trying everything: both sides send to every address that they know of the other,
  /// learn the addresses that packets come from, and answer. A way works when an answer comes back from where the packet
  /// went. Nothing of ICE is in this; the NATs are the emulator's.
  static func best(from kindA: NATKind?, to kindB: NATKind?, isHairpin: Bool = false) -> NATPath {
    if kindA == nil, kindB == nil { return .host }
    var meeting = Meeting(kindA, kindB, isHairpin: isHairpin)
    return meeting.succeeds() ? .translated : .relayed
  }

  private struct Meeting {
    private let server = SocketAddress(ip: .v4(0x0101_0101), port: 3_478)
    private let hosts = [SocketAddress(ip: .v4(0x0A00_0001), port: 1), SocketAddress(ip: .v4(0x0A00_0002), port: 2)]
    /// By side; both use the first one in a hairpin.
    private var gateways: [NATGateway?]
    private let isHairpin: Bool
    /// Addresses of the other side, by side.
    private var known: [Set<SocketAddress>] = [[], []]

    init(_ kindA: NATKind?, _ kindB: NATKind?, isHairpin: Bool) {
      self.isHairpin = isHairpin
      gateways = [kindA, kindB].enumerated().map { index, kind in
        kind.map { NATGateway($0, externalIP: .v4(0x0202_0200 + UInt32(index)), seed: UInt64(index)) }
      }
    }

    mutating func succeeds() -> Bool {
      for side in 0..<2 {
        if let address = leave(side, to: server) { known[1 - side].insert(address) }
      }
      for _ in 0..<6 {
        for side in 0..<2 {
          for target in known[side] where reaches(side, target) { return true }
        }
      }
      return false
    }

    /// Sends a packet to `target`, which is answered where it arrives.
    private mutating func reaches(_ side: Int, _ target: SocketAddress) -> Bool {
      guard let source = leave(side, to: target), arrives(at: target, from: source, side: 1 - side) else {
        return false
      }
      known[1 - side].insert(source)
      guard let answer = leave(1 - side, to: source) else { return false }
      return answer == target && arrives(at: source, from: answer, side: side)
    }

    private mutating func leave(_ side: Int, to target: SocketAddress) -> SocketAddress? {
      let gateway = isHairpin ? 0 : side
      guard gateways[gateway] != nil else { return hosts[side] }
      return gateways[gateway]!.outbound(from: hosts[side], to: target, now: .zero)
    }

    private func arrives(at target: SocketAddress, from source: SocketAddress, side: Int) -> Bool {
      guard let gateway = gateways[isHairpin ? 0 : side] else { return target == hosts[side] }
      return target.ip == gateway.externalIP
        && gateway.inbound(to: target.port, from: source, now: .zero) == hosts[side]
    }
  }
}
