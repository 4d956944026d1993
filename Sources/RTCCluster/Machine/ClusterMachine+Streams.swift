import RTCPrimitives
import RTCSignaling

/// Published streams: which hub has which.
extension ClusterMachine {
  /// The streams of this hub, and a copy of those of the others.
  struct Streams {
    enum Own {
      /// The script runs; the number of the question.
      case claiming(UInt64)
      /// Hubs still state their streams. The script runs again then.
      case waiting(UInt64, until: Timestamp)
      case held

      var question: UInt64? {
        switch self {
        case .claiming(let question), .waiting(let question, _): question
        case .held: nil
        }
      }
    }

    struct Place: Equatable {
      var hub: String
      /// The URL at which clients reach that hub.
      var address: String
    }

    /// The URL at which clients reach this hub.
    var address = ""
    var own: [String: Own] = [:]
    var others: [String: Place] = [:]
  }

  // MARK: - The streams of this hub

  mutating func setAddress(_ address: String, _ now: Timestamp) {
    streams.address = address
    if canAsk { stateStreams(now) }
    reportStreams()
  }

  mutating func publish(_ name: String, _ question: UInt64, _ now: Timestamp) {
    guard canAsk else { return actions.append(.published(question, .unavailable)) }
    guard streams.own[name] == nil else { return actions.append(.published(question, .taken)) }
    beginPublishing(name, question, now)
  }

  private mutating func beginPublishing(_ name: String, _ question: UInt64, _ now: Timestamp) {
    streams.own[name] = .claiming(question)
    run(.publish, [name, streams.address], .publish(name, question), now)
  }

  mutating func unpublish(_ name: String, _ now: Timestamp) {
    guard let own = streams.own.removeValue(forKey: name) else { return }
    if let question = own.question { actions.append(.published(question, .unavailable)) }
    // Otherwise the next statement shows that the stream has ended.
    if canAsk { run(.unpublish, [name], .other, now) }
  }

  mutating func takePublished(_ value: RESPValue, _ name: String, _ question: UInt64, _ now: Timestamp) {
    guard streams.own[name]?.question == question else { return }
    let parts = value.elements ?? []
    switch parts.first?.string {
    case "granted":
      streams.own[name] = .held
      actions.append(.published(question, .granted))
      // A statement that was sent before the answer has the stream not, and has removed it again.
      let isStating = asks.values.contains { if case .streams = $0.ask { true } else { false } }
      if isStating { stateStreams(now) }
    case "taken":
      streams.own[name] = nil
      actions.append(.published(question, .taken))
    case "wait" where parts.count >= 2:
      let until = now + .milliseconds(min(max(parts[1].integer ?? 1, 1), Int64(ClusterScript.grace)))
      streams.own[name] = .waiting(question, until: until)
    default: drop(.unreadable, now)
    }
  }

  /// Runs the scripts of publications that have waited long enough.
  mutating func publishAgain(_ now: Timestamp) {
    for (name, own) in streams.own.sorted(by: { $0.key < $1.key }) {
      guard case .waiting(let question, let until) = own, until <= now else { continue }
      beginPublishing(name, question, now)
    }
  }

  /// The time at which the script of a waiting publication runs again.
  var publicationDue: Timestamp? {
    streams.own.values.compactMap { if case .waiting(_, let until) = $0 { until } else { nil } }.min()
  }

  /// The connection is lost. Streams that were granted go on.
  mutating func abandonPublications() {
    for (name, own) in streams.own.sorted(by: { $0.key < $1.key }) {
      guard let question = own.question else { continue }
      streams.own[name] = nil
      actions.append(.published(question, .unavailable))
    }
  }

  // MARK: - All streams

  /// States the streams of this hub, and reads those of the others.
  mutating func stateStreams(_ now: Timestamp) {
    let names = streams.own.filter { if case .held = $0.value { true } else { false } }.keys.sorted()
    let text = JSONValue.object([("a", .string(streams.address)), ("n", .array(names.map { .string($0) }))]).text
    run(.streams, [text], .streams, now)
  }

  mutating func takeStreams(_ value: RESPValue, _ now: Timestamp) {
    guard let parts = value.elements, parts.count % 3 == 0 else { return drop(.unreadable, now) }
    var others: [String: Streams.Place] = [:]
    for index in stride(from: 0, to: parts.count, by: 3) {
      guard let name = parts[index].string, let hub = parts[index + 1].string, let address = parts[index + 2].string
      else { continue }
      others[name] = Streams.Place(hub: hub, address: address)
    }
    replaceOthers(by: others)
  }

  mutating func note(stream name: String, at hub: String, address: String) {
    var others = streams.others
    others[name] = hub == self.hub ? nil : Streams.Place(hub: hub, address: address)
    replaceOthers(by: others)
  }

  mutating func note(endOf name: String, at hub: String, _ now: Timestamp) {
    guard streams.others[name]?.hub == hub else { return }
    var others = streams.others
    others[name] = nil
    replaceOthers(by: others)
    stateAgain([name], now)
  }

  mutating func forgetStreams(of hub: String, _ now: Timestamp) {
    let lost = streams.others.filter { $0.value.hub == hub }.keys.sorted()
    replaceOthers(by: streams.others.filter { $0.value.hub != hub })
    stateAgain(lost, now)
  }

  /// Names are free again. After a partition, this hub may have one of them, too.
  private mutating func stateAgain(_ names: [String], _ now: Timestamp) {
    let hasOne = names.contains { if case .held? = streams.own[$0] { true } else { false } }
    if hasOne { stateStreams(now) }
  }

  private mutating func replaceOthers(by others: [String: Streams.Place]) {
    guard others != streams.others else { return }
    streams.others = others
    reportStreams()
  }

  private mutating func reportStreams() {
    actions.append(.streams(streams.others.mapValues { $0.address == streams.address ? "" : $0.address }))
  }
}
