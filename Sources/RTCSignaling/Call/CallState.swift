/// The remote peer of a call.
public struct CallParty: Sendable, Hashable {
  /// The remote peer's name at the hub.
  public var peer: String
  /// The identifier of the call, chosen by the caller; distinguishes calls with the same peer.
  public var call: String
  /// The room of both peers, where calls do not ring.
  public var room: String?

  /// Makes a party of a call.
  public init(peer: String, call: String, room: String? = nil) {
    self.peer = peer
    self.call = call
    self.room = room
  }
}

/// The side that rang.
public enum CallRole: Sendable, Hashable {
  /// We did. The caller makes the first offer and is the impolite side when both offer at once.
  case caller
  /// The remote peer did.
  case callee
}

/// The state of a call.
public enum CallState: Sendable, Hashable {
  /// No call yet.
  case idle
  /// The call is ringing, at the remote peer or here.
  case ringing(CallParty, CallRole)
  /// Accepted; the media connection is being made.
  case connecting(CallParty, CallRole)
  /// Media flows.
  case connected(CallParty, CallRole)
  /// Media flowed, and nothing gets through now; another way is looked for.
  case reconnecting(CallParty, CallRole)
  /// The call has ended; another can begin.
  case ended(CallParty, CallEnd)

  /// The remote peer of the present or last call; nil before the first.
  public var party: CallParty? {
    switch self {
    case .idle: nil
    case .ringing(let party, _), .connecting(let party, _), .connected(let party, _), .reconnecting(let party, _),
      .ended(let party, _):
      party
    }
  }

  /// The media connection stands, maybe interrupted: the call needs no hub.
  package var isEstablished: Bool {
    switch self {
    case .connected, .reconnecting: true
    case .idle, .ringing, .connecting, .ended: false
    }
  }

  /// True from the first ring to the end.
  public var isActive: Bool {
    switch self {
    case .idle, .ended: false
    case .ringing, .connecting, .connected, .reconnecting: true
    }
  }
}

/// Why a call is over.
public enum CallEnd: Error, Sendable, Hashable {
  /// The call was ended or rejected here.
  case hungUp
  /// The remote peer ended the call, or stopped ringing.
  case hungUpRemotely
  /// The remote peer rejected the call.
  case rejected
  /// The remote peer is in another call.
  case busy
  /// The remote peer cannot have such a call.
  case unsupported
  /// The remote peer did not answer in time.
  case noAnswer
  /// The call was not answered here in time.
  case missed
  /// The hub knows no such peer.
  case unknownPeer
  /// The remote peer left in the middle.
  case vanished
  /// No media connection came about in time.
  case connectTimeout
  /// The media connection was there and is gone; the sentence says how.
  case connectionLost(String)
  /// The two sides could not agree on media, or the connection could not be secured.
  case failed(String)
  /// The hub was lost for good before the call was established.
  case signalingLost(String)

  /// Whether one side ended the call on purpose.
  public var isRegular: Bool {
    switch self {
    case .hungUp, .hungUpRemotely: true
    default: false
    }
  }

  /// One word or two, for a program.
  public var word: String {
    switch self {
    case .hungUp: "hung up"
    case .hungUpRemotely: "hung up remotely"
    case .rejected: "rejected"
    case .busy: "busy"
    case .unsupported: "unsupported"
    case .noAnswer: "no answer"
    case .missed: "missed"
    case .unknownPeer: "unknown peer"
    case .vanished: "vanished"
    case .connectTimeout: "connect timeout"
    case .connectionLost: "connection lost"
    case .failed: "failed"
    case .signalingLost: "signaling lost"
    }
  }

  /// For a person: what happened, and what to do when something can be done.
  /// - Parameter peer: the remote peer's name.
  public func sentence(about peer: String) -> String {
    switch self {
    case .hungUp: "The call with \(peer) was ended."
    case .hungUpRemotely: "\(peer) ended the call."
    case .rejected: "\(peer) did not take the call."
    case .busy: "\(peer) is in another call; try again later."
    case .unsupported: "\(peer) cannot take such a call."
    case .noAnswer: "\(peer) did not answer; try again later."
    case .missed: "\(peer) called, and nobody answered here."
    case .unknownPeer: "There is no peer \(peer) at the hub now; check the name, or wait until it is there."
    case .vanished: "\(peer) has left the hub."
    case .connectTimeout: "No media connection to \(peer) was established in time; does a firewall block UDP?"
    case .connectionLost(let how): "The connection to \(peer) was lost: \(how)"
    case .failed(let why): "The call with \(peer) failed: \(why)"
    case .signalingLost(let why): "The call with \(peer) could not continue without the hub: \(why)"
    }
  }
}
