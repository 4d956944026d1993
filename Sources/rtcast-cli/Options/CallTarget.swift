import ArgumentParser
package import RTCSignaling

/// The destination of `--to`.
package enum CastTarget: Hashable, Sendable {
  /// The URL of a WHIP service, and the token that stood behind its `#`.
  case whip(String, token: String? = nil)
  /// A peer or a room at a hub.
  case hub(HubTarget)
  /// Descriptions by copy and paste.
  case manual

  package init(parsing text: String) throws {
    if text.hasPrefix("http:") || text.hasPrefix("https:") {
      let (url, fragment) = LinkFragment.split(text)
      guard WebAddress(url) != nil else {
        throw ValidationError("--to takes the URL of a WHIP service, such as https://sfu.example/whip, not '\(url)'.")
      }
      self = .whip(url, token: fragment.token)
    } else if text == "manual" {
      self = .manual
    } else {
      self = .hub(try HubTarget(parsing: text))
    }
  }

  package var text: String {
    switch self {
    case .whip(let url, _): url
    case .hub(let target): target.text
    case .manual: "manual"
    }
  }

  /// The token in the link's fragment.
  package var token: String? {
    switch self {
    case .whip(_, let token): token
    case .hub(let target): target.hub?.token
    case .manual: nil
    }
  }
}

/// A peer or a room, and its hub where it names one.
package struct HubTarget: Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    case peer(String)
    case room(String)
  }

  package var place: Place
  /// Nil: `--server` says.
  package var hub: LinkedHub?

  /// `NAME`, `room:NAME`, `ws://host/NAME`, `wss://host/room:NAME`.
  package init(parsing text: String) throws {
    var name = text
    if text.hasPrefix("ws:") || text.hasPrefix("wss:") {
      let (address, fragment) = LinkFragment.split(text)
      guard let target = HubAddress.target(address) else {
        throw ValidationError("'\(address)' is not a peer at a hub; it must look like wss://host/NAME.")
      }
      (hub, name) = (LinkedHub(address: target.hub, token: fragment.token), target.peer)
    }
    place = name.hasPrefix("room:") ? .room(String(name.dropFirst(5))) : .peer(name)
    guard hasName else {
      throw ValidationError(
        "'\(text)' is not a destination: give NAME, room:NAME, wss://host/NAME, https://host/path or manual, where a NAME "
          + "has 1 to 64 characters, and that of a peer none of / ? # \\.")
    }
  }

  private var hasName: Bool {
    switch place {
    case .peer(let name): HubName.fits(name) && !name.contains { "/?#\\".contains($0) }
    case .room(let name): HubName.fits(name)
    }
  }

  package var text: String {
    switch place {
    case .peer(let name): name
    case .room(let name): "room:\(name)"
    }
  }
}

/// The hub of `--server` and RTCAST_SERVER.
enum HubChoice {
  static func address(_ text: String) throws -> LinkedHub {
    guard let hub = LinkedHub(text) else {
      throw ValidationError(
        "--server takes a hub's address or link, such as wss://host or ws://host:8080, not "
          + "'\(LinkFragment.split(text).address)'.")
    }
    return hub
  }

  /// The hub to go to.
  static func find(_ target: HubTarget?, option: LinkedHub?, environment: String?) throws(CastFailure) -> LinkedHub {
    if let hub = target?.hub ?? option { return hub }
    guard let environment, !environment.isEmpty else {
      if case .peer(let name)? = target?.place, name.wholeMatch(of: /[\w.\-]+:\d+/) != nil {
        throw CastFailure(
          .usage,
          "'\(name)' is taken for a peer at a hub, but no hub is named. To watch a cast at that address, write "
            + "http://\(name)/."
        )
      }
      throw CastFailure(
        .usage,
        "No hub is named: give --server wss://host or set RTCAST_SERVER; `rtcast serve` runs a hub and prints its address."
      )
    }
    guard let hub = LinkedHub(environment) else {
      throw CastFailure(
        .usage,
        "RTCAST_SERVER is '\(LinkFragment.split(environment).address)', which is not a hub's address; it must look like "
          + "wss://host.")
    }
    return hub
  }
}

/// A hub, and the token of the link that named it.
package struct LinkedHub: Hashable, Sendable {
  package var address: HubAddress
  package var token: String?

  package init(address: HubAddress, token: String? = nil) {
    self.address = address
    self.token = token
  }

  /// Takes what `HubAddress` takes, and links as people share them.
  init?(_ text: String) {
    let (address, fragment) = LinkFragment.split(text)
    guard let address = HubAddress(address) else { return nil }
    self.init(address: address, token: fragment.token)
  }
}
