import RTCPeer
import RTCPrimitives
import Testing

/// Whose datagrams come from where, when sessions lie about where their peers are.
@Suite struct RouteTableTests {
  private final class Session: Hashable {
    static func == (a: Session, b: Session) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  private static func remote(_ number: UInt16) -> RemoteEnd {
    let local = SocketAddress(ip: .v4(0x0A00_0001), port: 9)
    return RemoteEnd(
      Route(local: local, remote: SocketAddress(ip: .v4(0x0A00_0002), port: number), kind: .udp(port: 0)))
  }

  private let home = Self.remote(1)

  @Test func `who only writes to an address gets nothing from there`() {
    var table = RouteTable<Session>()
    let thief = Session()
    table.note(writer: thief, to: home)
    #expect(table.owner(of: home) == nil && table.writer(to: home) == thief && table.knows(home))
  }

  @Test func `who proves to be at an address takes it from one who did not`() {
    var table = RouteTable<Session>()
    let (thief, owner) = (Session(), Session())
    table.claim(home, for: thief, isProved: false)
    #expect(table.owner(of: home) == thief)
    table.claim(home, for: owner, isProved: false)
    #expect(table.owner(of: home) == thief, "nobody has proved anything")
    table.claim(home, for: owner, isProved: true)
    #expect(table.owner(of: home) == owner)
    table.claim(home, for: thief, isProved: false)
    #expect(table.owner(of: home) == owner)
  }

  @Test func `a peer that begins anew from the same address is heard`() {
    var table = RouteTable<Session>()
    let (before, after) = (Session(), Session())
    table.claim(home, for: before, isProved: true)
    table.claim(home, for: after, isProved: true)
    #expect(table.owner(of: home) == after)
    _ = table.remove(before)
    #expect(table.owner(of: home) == after)
  }

  @Test func `a session has few addresses at a time, the latest`() {
    var table = RouteTable<Session>()
    let session = Session()
    for number in 1...1_000 as ClosedRange<UInt16> {
      table.claim(Self.remote(number), for: session, isProved: true)
      table.note(writer: session, to: Self.remote(number))
    }
    let owned = (1...1_000 as ClosedRange<UInt16>).filter { table.owner(of: Self.remote($0)) != nil }
    #expect(owned.count == PeerLimits.provedAddresses && owned.last == 1_000)
    let known = (1...1_000 as ClosedRange<UInt16>).filter { table.knows(Self.remote($0)) }
    #expect(known.count == PeerLimits.addressesWritten)
  }

  @Test func `nothing is left of a session that has ended`() {
    var table = RouteTable<Session>()
    let session = Session()
    table.claim(home, for: session, isProved: true)
    table.note(writer: session, to: Self.remote(2))
    #expect(table.remove(session) == [home, Self.remote(2)])
    #expect(!table.knows(home) && !table.knows(Self.remote(2)))
  }
}
