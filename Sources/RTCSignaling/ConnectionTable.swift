package import RTCPrimitives

/// The open connections of a server, in the order they came, counted by network.
package struct ConnectionTable<Connection: AnyObject> {
  private struct Entry {
    let connection: Connection
    let network: ClientNetwork
    let number: UInt64
  }

  private var entries: [ObjectIdentifier: Entry] = [:]
  private var counts: [ClientNetwork: Int] = [:]
  private var lastNumber: UInt64 = 0

  package init() {}

  package var count: Int { entries.count }
  package var isEmpty: Bool { entries.isEmpty }
  package var all: [Connection] { entries.values.map(\.connection) }

  package func count(of network: ClientNetwork) -> Int { counts[network] ?? 0 }

  package mutating func add(_ connection: Connection, of network: ClientNetwork) {
    lastNumber += 1
    entries[ObjectIdentifier(connection)] = Entry(connection: connection, network: network, number: lastNumber)
    counts[network, default: 0] += 1
  }

  package mutating func remove(_ connection: Connection) {
    guard let entry = entries.removeValue(forKey: ObjectIdentifier(connection)), let count = counts[entry.network]
    else {
      return
    }
    counts[entry.network] = count > 1 ? count - 1 : nil
  }

  /// The oldest connection that fulfils a condition, of the network with the most connections that has one.
  package func oldestOfBusiest(where condition: (Connection) -> Bool) -> Connection? {
    var best: (entry: Entry, count: Int)?
    for entry in entries.values where condition(entry.connection) {
      let count = counts[entry.network] ?? 0
      if let known = best, (known.count, entry.number) > (count, known.entry.number) { continue }
      best = (entry, count)
    }
    return best?.entry.connection
  }
}
