/// A right at a server. The owner's secret gives all rights; a signed link gives one.
public enum AccessRight: String, Sendable, CaseIterable {
  /// The right to see a cast, or a stream at a hub (WHEP).
  case watch
  /// Send a stream to a hub (WHIP).
  case publish
  /// Take a name at a hub: call, be called, enter rooms.
  case call
  /// Read the figures: `/metrics`, and the details of `/health`.
  case metrics

  /// The letter in a signed link.
  var letter: Character { rawValue.first ?? "-" }

  init?(letter: some StringProtocol) {
    guard let right = Self.allCases.first(where: { String($0.letter) == letter }) else { return nil }
    self = right
  }

  /// The end of "This link is for …".
  var gerund: String {
    switch self {
    case .watch: "watching"
    case .publish: "publishing"
    case .call: "calling"
    case .metrics: "reading figures"
    }
  }
}
