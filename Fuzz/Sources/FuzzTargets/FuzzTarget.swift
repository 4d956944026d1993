/// A parser or machine that is fuzzed.
public struct FuzzTarget: Sendable {
  /// `RTP`, `Hub` …: the name of its folders in `Fuzz/Seeds` and `Fuzz/FailCases`.
  public let name: String
  /// The most bytes of an input.
  public let longest: Int
  /// Runs it over one input, and traps if it breaks a rule.
  public let body: @Sendable (Span<UInt8>) -> Void

  init(_ name: String, longest: Int = 1_500, _ body: @escaping @Sendable (Span<UInt8>) -> Void) {
    self.name = name
    self.longest = longest
    self.body = body
  }
}
