import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct ConnectionTableTests {
  private final class Connection { var isUnfinished = true }

  @Test func `B3: the oldest unfinished connection of the busiest network is found`() {
    var table = ConnectionTable<Connection>()
    let (few, many) = (ClientNetwork("192.0.2.1"), ClientNetwork("2001:db8::1"))
    let first = Connection()
    table.add(first, of: few)
    let crowd = (0..<5).map { _ in Connection() }
    for connection in crowd { table.add(connection, of: many) }
    #expect(table.count == 6 && table.count(of: few) == 1 && table.count(of: many) == 5)
    #expect(table.oldestOfBusiest(where: \.isUnfinished) === crowd[0])
    crowd[0].isUnfinished = false
    #expect(table.oldestOfBusiest(where: \.isUnfinished) === crowd[1])
    for connection in crowd { connection.isUnfinished = false }
    #expect(table.oldestOfBusiest(where: \.isUnfinished) === first)
    first.isUnfinished = false
    #expect(table.oldestOfBusiest(where: \.isUnfinished) == nil)
    for connection in crowd { table.remove(connection) }
    table.remove(crowd[0])
    #expect(table.count == 1 && table.count(of: many) == 0)
  }

  @Test func `B3: a warning that strangers cause is one line a minute, with a count`() {
    var (warning, now) = (RepeatedWarning(), Timestamp.zero + .seconds(100))
    #expect(warning.note(now) == 1)
    for _ in 0..<700 {
      now += .milliseconds(20)
      #expect(warning.note(now) == nil)
    }
    now += .seconds(60)
    #expect(warning.note(now) == 701)
    #expect(warning.note(now) == nil)
  }
}
