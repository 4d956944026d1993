package import RTCPrimitives

/// Formats access decisions as lines of JSON, at a bounded rate, so that repeated refusals cannot fill the disk.
/// Omitted lines are counted.
package struct AuditLines {
  /// Refusals that are written at once, and a second for long.
  package static let refusals = 50.0
  package static let refusalsPerSecond = 1.0
  /// Admissions that are written at once, and a second for long. A class that comes in at once is written whole.
  package static let admissions = 1_000.0
  package static let admissionsPerSecond = 20.0

  private var refusals: TokenBucket
  private var admissions: TokenBucket
  private var omittedRefusals = 0
  private var omittedAdmissions = 0

  package init(now: Timestamp) {
    refusals = TokenBucket(capacity: Self.refusals, perSecond: Self.refusalsPerSecond, now: now)
    admissions = TokenBucket(capacity: Self.admissions, perSecond: Self.admissionsPerSecond, now: now)
  }

  /// Returns the lines for a decision, each with a line end; empty while there are too many. Revocations are never
  /// omitted, since only the owner makes them.
  /// - Parameter time: the time of day, formatted.
  package mutating func lines(for event: AuditEvent, at time: String, now: Timestamp) -> String {
    switch event.decision {
    case .revoked: break
    case .refused:
      guard refusals.take(1, now: now) else {
        omittedRefusals += 1
        return ""
      }
    case .admitted:
      guard admissions.take(1, now: now) else {
        omittedAdmissions += 1
        return ""
      }
    }
    return omitted(at: time) + Self.line(event, time)
  }

  /// How many were left out since the last line; empty for none.
  package mutating func omitted(at time: String) -> String {
    guard omittedRefusals + omittedAdmissions > 0 else { return "" }
    defer { (omittedRefusals, omittedAdmissions) = (0, 0) }
    return JSONValue.object([
      ("time", .string(time)), ("event", "omitted"), ("refused", .count(omittedRefusals)),
      ("admitted", .count(omittedAdmissions)),
    ]).text + "\n"
  }

  private static func line(_ event: AuditEvent, _ time: String) -> String {
    var members: [(String, JSONValue)] = [("time", .string(time))]
    switch event.decision {
    case .admitted: members.append(("event", "admitted"))
    case .refused(let reason): members += [("event", "refused"), ("reason", .string(reason))]
    case .revoked: members.append(("event", "revoked"))
    }
    if let right = event.right { members.append(("right", .string(right.rawValue))) }
    switch event.credential {
    case .open: members.append(("by", "open"))
    case .secret: members.append(("by", "secret"))
    case .nameToken: members.append(("by", "name token"))
    case .link(let id): members += [("by", "link"), ("link", .string(id.foreignText(limit: 64)))]
    case nil: break
    }
    if !event.address.isEmpty { members.append(("address", .string(event.address))) }
    if let name = event.name { members.append(("name", .string(name.foreignText()))) }
    return JSONValue.object(members).text + "\n"
  }
}
