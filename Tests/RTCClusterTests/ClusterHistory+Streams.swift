import RTCCluster
import RTCSignaling

/// The streams of a history.
extension ClusterHistory {
  func stepStreams(_ event: Int, _ index: Int) throws {
    let hub = hubs[index]
    let name = "s\(Int.random(in: 0..<3, using: &random))"
    if event < 130 {
      guard !hub.streams.contains(name), !hub.publications.values.contains(name) else { return }
      try publish(name, index)
    } else {
      hub.streams.remove(name)
      hub.publications = hub.publications.filter { $0.value != name }
      try input(.unpublish(name), index)
    }
  }

  private func publish(_ name: String, _ index: Int) throws {
    let hub = hubs[index]
    hub.questionCount += 1
    hub.publications[hub.questionCount] = name
    try input(.publish(hub.questionCount, name), index)
  }

  func note(_ answer: PresenceAnswer, toPublication question: UInt64, _ hub: SimulatedHub) {
    guard let name = hub.publications.removeValue(forKey: question), answer == .granted else { return }
    hub.streams.insert(name)
    published += 1
  }

  /// After everything has healed: each stream has one hub for all others, and nobody else can publish under its name. After a
  /// partition two hubs may have one name; then the directory has one of them.
  func endStreams() throws {
    let all = Set(hubs.flatMap(\.streams))
    for (index, hub) in hubs.enumerated() {
      expect(hub.publications.isEmpty, "h\(index) owes an answer about a stream")
      for name in all.union(hub.elsewhere.keys) {
        let owners = hubs.filter { $0 !== hub && $0.streams.contains(name) }.map(\.machine.hub)
        let known = hub.elsewhere[name]
        if let known {
          expect(owners.contains(known), "h\(index) takes \(known) for the hub of \(name), and it is at \(owners)")
        } else {
          expect(owners.isEmpty || hub.streams.contains(name), "h\(index) does not know that \(name) is at \(owners)")
        }
      }
    }
    for name in all.sorted() {
      let knowing = hubs.filter { $0.elsewhere[name] != nil }
      expect(knowing.count == hubs.count - 1, "\(knowing.count) hubs know where \(name) is")
      expect(Set(knowing.map { $0.elsewhere[name] }).count == 1, "\(name) is at several hubs")
      for (index, hub) in hubs.enumerated() where !hub.streams.contains(name) {
        try publish(name, index)
        try flush()
        expect(!hub.streams.contains(name), "\(name) has a second publisher")
      }
    }
  }
}
