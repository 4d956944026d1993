import Glibc
package import RTCSignaling

/// Answers to commands as a person reads them.
package enum ControlText {
  /// Nothing for a command that was carried out.
  static func lines(of event: OutputEvent) -> [String] {
    (try? JSONTree(parsing: event.object.text.utf8)).map { lines(of: $0, now: Int64(time(nil))) } ?? []
  }

  /// - Parameter now: in seconds since 1970.
  package static func lines(of event: JSONTree, now: Int64) -> [String] {
    switch event["event"]?.text {
    case "status": status(event, now: now)
    case "viewers": viewers(event)
    default: []
    }
  }

  /// Why a command was not carried out, in a sentence; nil: it was.
  static func refusal(in event: JSONTree) -> String? {
    event["event"]?.text == OutputEvent.Name.error.rawValue ? event.text("message") : nil
  }

  // MARK: - status

  private static func status(_ event: JSONTree, now: Int64) -> [String] {
    let time = Figures.duration(seconds: max(0, now - Int64(event.integer("since"))))
    let process = "process \(event.integer("process"))"
    switch event["kind"]?.text {
    case "call":
      let state = event["state"]?.text ?? "no call"
      return ["Call as \(event.text("id")) at \(event.text("server")) for \(time), \(process): \(state)."]
        + event.items("stats").map { "  \($0.text("id"))" + network($0) }
    case "hub":
      let counts = [
        Figures.count(event.integer("peers"), "peer"), Figures.count(event.integer("rooms"), "room"),
        Figures.count(event.items("streams").count, "stream"),
      ]
      return ["Hub for \(time), \(process)."] + links(event)
        + ["  " + counts.joined(separator: "  ")]
        + event.items("streams").compactMap { $0.text.map { "  stream " + $0 } }
    default:
      let pause = event["paused"]?.isTrue == true ? " Paused." : ""
      return ["Casts \(event.text("source")) for \(time), \(process).\(pause)"] + links(event)
        + (event["to"]?.text.map { ["  to " + $0] } ?? []) + ["  " + figures(event)]
    }
  }

  private static func links(_ event: JSONTree) -> [String] {
    event.items("urls").compactMap { $0.text.map { "  " + $0 } }
  }

  private static func figures(_ event: JSONTree) -> String {
    let viewers = Figures.count(event.integer("viewers"), "viewer")
    guard let stats = event["stats"], case .object = stats.value else { return viewers }
    return [
      viewers, "\(stats.integer("width"))×\(stats.integer("height"))",
      Figures.fixed(stats.number("fps_sent") ?? 0, 1) + " fps",
      Figures.rate(bitsPerSecond: Int64(stats.integer("bitrate_bps"))), stats.text("codec"),
      "cpu \(Figures.fixed(stats.number("cpu_pct") ?? 0, 1)) %",
    ].joined(separator: "  ")
  }

  private static func network(_ figures: JSONTree) -> String {
    let roundTrip = figures.number("rtt_ms").map { "  rtt " + Figures.milliseconds($0) } ?? ""
    return roundTrip + "  loss \(Figures.fixed(100 * (figures.number("loss") ?? 0), 1)) %"
  }

  // MARK: - viewers

  private static func viewers(_ event: JSONTree) -> [String] {
    let peers = event.items("peers")
    guard !peers.isEmpty else { return ["No viewers."] }
    let rows = peers.map { peer in
      [
        peer.text("id"), peer.text("state"), peer["remote"]?.text ?? "–", peer["codec"]?.text ?? "–",
        Figures.fixed(peer.number("fps_sent") ?? 0, 1) + " fps",
        Figures.rate(bitsPerSecond: Int64(peer.integer("bitrate_bps"))),
        peer.number("rtt_ms").map { Figures.milliseconds($0) } ?? "–",
        Figures.fixed(100 * (peer.number("loss") ?? 0), 1) + " %",
      ]
    }
    return table([["ID", "STATE", "ADDRESS", "CODEC", "FRAMES", "RATE", "RTT", "LOSS"]] + rows)
  }

  /// Columns as wide as their widest cell.
  static func table(_ rows: [[String]]) -> [String] {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
    }
  }
}

extension JSONTree {
  /// A member of an object.
  fileprivate subscript(name: String) -> JSONTree? {
    guard case .object(let members) = value else { return nil }
    return members.first { $0.name == name }?.value
  }

  fileprivate var text: String? { if case .string(let text) = value { text } else { nil } }

  fileprivate var isTrue: Bool { if case .bool(true) = value { true } else { false } }

  fileprivate func text(_ name: String) -> String { self[name]?.text ?? "" }

  fileprivate func number(_ name: String) -> Double? {
    if case .number(let number)? = self[name]?.value { number } else { nil }
  }

  fileprivate func integer(_ name: String) -> Int { number(name).flatMap { Int(exactly: $0.rounded()) } ?? 0 }

  fileprivate func items(_ name: String) -> [JSONTree] {
    if case .array(let items)? = self[name]?.value { items } else { [] }
  }
}
