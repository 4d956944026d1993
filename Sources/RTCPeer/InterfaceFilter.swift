/// Network interfaces by name, as `--interface` takes them: `eth0,wlan0` or `!docker0`.
public struct InterfaceFilter: Hashable, Sendable {
  /// The allowed interfaces; empty: all except the refused.
  public var allowed: Set<String>
  /// The refused interfaces.
  public var refused: Set<String>

  /// The names as they are.
  public init(allowed: Set<String> = [], refused: Set<String> = []) {
    self.allowed = allowed
    self.refused = refused
  }

  /// Reads names with commas between them, those to be left out with `!` in front. Nil without a name, and for an empty
  /// one.
  public init?(_ text: String) {
    let names = text.split(separator: ",", omittingEmptySubsequences: false)
    guard names.allSatisfy({ !$0.isEmpty && $0 != "!" }) else { return nil }
    self.init(
      allowed: Set(names.filter { !$0.hasPrefix("!") }.map(String.init)),
      refused: Set(names.filter { $0.hasPrefix("!") }.map { String($0.dropFirst()) }))
  }

  /// An interface of this name may be used.
  public func admits(_ name: String) -> Bool {
    (allowed.isEmpty || allowed.contains(name)) && !refused.contains(name)
  }
}
