/// Who may take which name.
public struct HubAccess: Sendable, Equatable {
  /// For every name that has no token of its own.
  public var shared: AccessToken?
  /// By name. When there are such and no shared one, nobody takes another name.
  public var perPeer: [String: AccessToken]

  /// Without tokens everybody may take any name.
  public init(shared: AccessToken? = nil, perPeer: [String: AccessToken] = [:]) {
    self.shared = shared
    self.perPeer = perPeer
  }

  /// Whether somebody who has no name here yet may take a name of their choice with that token.
  func admits(stranger token: String) -> Bool { shared.map { $0.admits(token) } ?? perPeer.isEmpty }

  func admits(_ name: String, showing token: String?) -> Bool {
    if let wanted = perPeer[name] ?? shared { return token.map { wanted.admits($0) } ?? false }
    return perPeer.isEmpty
  }
}
