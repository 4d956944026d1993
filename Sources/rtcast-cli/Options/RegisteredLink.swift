package import ArgumentParser

/// A link of the scheme `rtcast`, which desktops open with `rtcast watch`: `rtcast:` in front of another link, or
/// `rtcast://HOST/…` for `https://HOST/…`.
package enum RegisteredLink {
  private static let scheme = "rtcast:"

  /// The URL to watch in a link with rtcast's own scheme; other texts are returned as they are. A link may come from
  /// any web page. So it may lead only to a server, and not to anything that this machine or its environment names.
  package static func target(of text: String) throws(ValidationError) -> String {
    guard text.prefix(scheme.count).lowercased() == scheme else { return text }
    let rest = String(text.dropFirst(scheme.count))
    if rest.hasPrefix("//") { return "https:" + rest }
    guard ["http://", "https://", "ws://", "wss://"].contains(where: { rest.lowercased().hasPrefix($0) }) else {
      throw ValidationError(
        "A link that begins with rtcast: is followed by the link of a cast, such as rtcast:https://host/#token=…, not "
          + "'\(rest.prefix(80))'.")
    }
    return rest
  }
}
