import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

@Suite struct RoleConflictTests {
  @Test(arguments: [ICERole.controlling, .controlled], [0.0, 0.2]) func `is settled`(role: ICERole, loss: Double) {
    for seed in 1...20 as ClosedRange<UInt64> {
      var pair = AgentPair(seed: seed, roleA: role, roleB: role, conditions: .lossy(loss))
      pair.exchange(["10.0.0.1", "fd00::1"], ["10.0.0.2", "fd00::2"])
      pair.run(for: .seconds(30)) { $0.areConnected }
      #expect(pair.areConnected && pair.routesAgree, "seed \(seed)")
      #expect(pair.a.agent.role != pair.b.agent.role)
      let changes = (pair.a.events + pair.b.events).filter { if case .roleChanged = $0 { true } else { false } }
      #expect(changes.count == 1)
    }
  }

  @Test func `a lite peer makes us control`() {
    var side = Side(role: .controlled, seed: 1)
    var other = SeededGenerator(seed: 2)
    side.agent.setRemote(credentials: ICECredentials(using: &other), isLite: true, now: .zero)
    #expect(side.agent.role == .controlling)
  }
}
