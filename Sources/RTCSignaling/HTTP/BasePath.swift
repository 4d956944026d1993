/// The path of a proxy under which a server is reached, such as `/cast`: without a slash at the end.
public struct BasePath: Hashable, Sendable, CustomStringConvertible {
  private static let longest = 256

  /// Begins with a slash.
  public let text: String

  /// Takes `/cast`, `/cast/` and `cast`; nil for the root, for empty parts and dots, and for characters that stand in no path.
  public init?(_ text: String) {
    let parts = text.drop { $0 == "/" }.split(separator: "/", omittingEmptySubsequences: false)
    let kept = parts.last?.isEmpty == true ? parts.dropLast() : parts[...]
    guard !kept.isEmpty, text.utf8.count <= Self.longest,
      kept.allSatisfy({ part in
        !part.isEmpty && part != "." && part != ".."
          && part.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"?#\\\"<>".utf8.contains($0) }
      })
    else { return nil }
    self.text = "/" + kept.joined(separator: "/")
  }

  /// The path.
  public var description: String { text }

  /// The last part of the path.
  var name: Substring { text.split(separator: "/").last ?? "" }

  /// A request's target without the path; as it is if it does not begin with the path, for proxies that remove it. The
  /// path alone becomes an empty path, which no resource has.
  func stripped(from target: String) -> String {
    guard target.hasPrefix(text) else { return target }
    let rest = target.dropFirst(text.count)
    guard let next = rest.first else { return "" }
    return next == "/" || next == "?" || next == "#" ? String(rest) : target
  }
}
