import RTCPeer
import RTCPrimitives
import Testing

/// Which sessions cost a loop more than their share of the processor, in virtual time.
@Suite struct LoadSharesTests {
  private final class Session: LoadBearer {
    var load = SessionLoad()
    /// Processor time of one datagram, and datagrams in a window.
    var cost: TimeDelta
    var datagrams: Int
    var dropped = 0
    var wasDeferred = false

    init(_ datagrams: Int, of cost: TimeDelta) { (self.datagrams, self.cost) = (datagrams, cost) }
  }

  /// A loop with sessions on a machine that gives it a part of the time.
  private struct Machine {
    var sessions: [Session]
    /// The part of the time that the loop can have.
    var available = 1.0
    /// A pause of the whole thread within a datagram of this session.
    var pause: (session: Int, time: TimeDelta)?
    private var shares = LoadShares<Session>(now: .zero)
    private var now = Timestamp.zero
    private var processorTime = TimeDelta.zero
    private var idleTime = TimeDelta.zero

    init(_ sessions: [Session], available: Double = 1) { (self.sessions, self.available) = (sessions, available) }

    /// Lets a window pass.
    /// - Returns: the sessions to be ended.
    mutating func passWindow() -> [Session] {
      let window = LoadShares<Session>.window
      var worked = TimeDelta.zero
      for (index, session) in sessions.enumerated() where session.load.standing != .deferred {
        for number in 0..<session.datagrams {
          let isSlow = number == 0 && pause?.session == index
          var elapsed = session.cost
          // The cheap clock sees how long it takes, the exact one what it costs.
          if session.load.standing == .usual {
            elapsed = .seconds(session.cost.seconds / available)
            if isSlow, let pause { elapsed = elapsed + pause.time }
          }
          shares.charge(elapsed, to: session)
          worked = worked + session.cost
        }
      }
      worked = worked + serveDeferred(room: .seconds(window.seconds * available) - worked)
      now += window
      let used = min(worked.seconds, window.seconds * available)
      processorTime = processorTime + .seconds(used)
      idleTime = idleTime + .seconds(max(0, window.seconds - used / available))
      return shares.endWindow(
        now: now, processorTime: processorTime, idleTime: idleTime, sessions: sessions.count)
    }

    /// Datagrams of deferred sessions come evenly over the window, and what is not allowed is dropped.
    private mutating func serveDeferred(room: TimeDelta) -> TimeDelta {
      var worked = TimeDelta.zero
      for session in sessions where session.load.standing == .deferred {
        session.wasDeferred = true
        session.dropped = 0
        for number in 0..<session.datagrams {
          let moment = now + LoadShares<Session>.window * Int64(number) / Int64(session.datagrams)
          if worked < room, shares.mayHandle(of: session, now: moment) {
            shares.charge(session.cost, to: session)
            worked = worked + session.cost
          } else {
            shares.countDropped(of: session)
            session.dropped += 1
          }
        }
      }
      return worked
    }

    /// Lets so many windows pass, and returns the number of the window in which each session was to be ended.
    mutating func pass(_ windows: Int, _ change: (inout Machine, Int) -> Void = { _, _ in }) -> [ObjectIdentifier: Int]
    {
      var ended: [ObjectIdentifier: Int] = [:]
      for number in 1...windows {
        change(&self, number)
        for session in passWindow() where ended[ObjectIdentifier(session)] == nil {
          ended[ObjectIdentifier(session)] = number
          shares.forget(session)
          sessions.removeAll { $0 === session }
        }
      }
      return ended
    }
  }

  /// A viewer's reports: twenty a second at twenty microseconds each.
  private static func viewers(_ count: Int) -> [Session] { (0..<count).map { _ in Session(5, of: .microseconds(20)) } }

  /// Takes so many parts of a core, in datagrams of a tenth of a millisecond.
  private static func flood(_ cores: Double) -> Session {
    Session(Int(cores * LoadShares<Session>.window.seconds / 0.0001), of: .microseconds(100))
  }

  @Test func `a flooding session is served after the others in half a second and ended in six`() {
    let (viewers, attacker) = (Self.viewers(10), Self.flood(3))
    var machine = Machine(viewers + [attacker])
    #expect(machine.pass(2).isEmpty)
    #expect(attacker.load.standing == .deferred)
    #expect(viewers.allSatisfy { $0.load.standing == .usual })
    let ended = machine.pass(22)
    #expect(ended[ObjectIdentifier(attacker)] == LoadShares<Session>.patience && ended.count == 1)
    #expect(viewers.allSatisfy { !$0.wasDeferred })
  }

  @Test(arguments: [1.0, 0.2, 0.05]) func `five of fifty flood, on a machine with or without time for the loop`(
    available: Double
  ) {
    let (viewers, attackers) = (Self.viewers(45), (0..<5).map { _ in Self.flood(0.8) })
    var machine = Machine(viewers + attackers, available: available)
    let ended = machine.pass(40)
    #expect(Set(ended.keys) == Set(attackers.map(ObjectIdentifier.init)))
    #expect(viewers.allSatisfy { !$0.wasDeferred && $0.load.standing == .usual })
  }

  @Test func `deferred sessions together leave half of the loop to others`() {
    let (viewers, attackers) = (Self.viewers(10), (0..<4).map { _ in Self.flood(1) })
    var machine = Machine(viewers + attackers)
    _ = machine.pass(4)
    let window = LoadShares<Session>.window
    let handled = attackers.reduce(0) { $0 + $1.datagrams - $1.dropped }
    // Each may begin with a slice in advance.
    let most = window.seconds * LoadShares<Session>.served + 4 * LoadShares<Session>.slice.seconds
    #expect(Double(handled) * 0.0001 <= most + 0.001)
    #expect(handled > 0)
  }

  @Test func `honest viewers on a machine that is busy with something else are never deferred`() {
    let viewers = Self.viewers(8)
    var machine = Machine(viewers, available: 0.1)
    var random = SeededGenerator(seed: 23)
    let ended = machine.pass(2_000) { machine, _ in
      // The thread stands still within a datagram, for longer than a window at times.
      machine.available = Double.random(in: 0.01...1, using: &random)
      machine.pause = (
        Int.random(in: 0..<8, using: &random), .milliseconds(Int64.random(in: 0...1_000, using: &random))
      )
    }
    #expect(ended.isEmpty)
    #expect(viewers.allSatisfy { !$0.wasDeferred })
  }

  @Test func `a fast sender that slows down when packets are lost is served later and stays`() {
    let sender = Self.flood(0.9)
    let most = sender.datagrams
    var machine = Machine(Self.viewers(3) + [sender])
    let ended = machine.pass(400) { _, _ in
      sender.datagrams = sender.dropped > 0 ? max(1, sender.datagrams / 2) : min(most, sender.datagrams + most / 20)
    }
    #expect(sender.wasDeferred)
    #expect(ended.isEmpty)
  }

  @Test func `equal sessions that overload the loop together are all kept`() {
    let publishers = (0..<20).map { _ in Self.flood(0.2) }
    var machine = Machine(publishers)
    #expect(machine.pass(100).isEmpty)
  }

  @Test func `a session alone has the loop for itself`() {
    let sender = Self.flood(2)
    var machine = Machine([sender])
    #expect(machine.pass(50).isEmpty)
    #expect(!sender.wasDeferred)
  }

  @Test func `a session that has become quiet is treated as usual again`() {
    let sender = Self.flood(0.9)
    var machine = Machine(Self.viewers(3) + [sender])
    _ = machine.pass(3)
    #expect(sender.load.standing == .deferred)
    sender.datagrams = 5
    _ = machine.pass(LoadShares<Session>.calm)
    #expect(sender.load.standing == .usual)
  }
}
