import RTCEngine
import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire

/// Helpers of the tests of candidates, fragments and connectivity.
enum Reach {
  static func hosts(_ side: PeerPair.Side, _ numbers: [UInt32]) -> [ICECandidate] {
    ICECandidate.hosts(
      addresses: numbers.map { (.v4(0x0A00_0000 + $0), 1) }, port: side == .offerer ? 5_000 : 6_000)
  }

  /// A pair that is connected, with a picture on its way.
  static func connected(_ configure: @escaping (PeerPair.Side, inout PeerConfiguration) -> Void = { _, _ in }) throws
    -> PeerPair
  {
    var options = PeerPair.Options()
    options.configure = configure
    let pair = try PeerPair(options)
    pair.connect()
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(2))
    return pair
  }
}

extension PeerPair {
  /// Takes the latest fragment of one side to the other, as a client's to its server, and the answer back.
  func exchangeFragment(from side: Side) {
    guard let fragment = self[side].fragments.last else { return }
    let before = self[side.other].fragments.count
    perform(side.other, .applyFragment(fragment, freshCredentials()))
    guard self[side.other].fragments.count > before, let answer = self[side.other].fragments.last else { return }
    perform(side, .acceptFragment(answer))
  }
}
