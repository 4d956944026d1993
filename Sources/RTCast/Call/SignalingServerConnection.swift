public import RTCPrimitives
public import RTCSignaling

/// What a peer is called at the signaling server.
public typealias PeerID = String

/// The connection to a signaling server, replaceable by an application: messages between peers, and rooms where the
/// server has them. `HubSignaling` is ours; `Snippets/OwnSignaling.swift` implements another.
///
/// **Order.** `CallManager` calls the sending methods one after the other and waits for each. Messages from one peer to
/// another must be delivered in that order and at most once: an offer that overtakes its ring ends the call.
///
/// **Loss.** After an interruption the connection reconnects by itself, tells the delegate `.interrupted` and `.resumed`,
/// and sends what waited. What it cannot deliver it tells by `.refused`, with the peer's name and the code
/// `unknown-peer` where nobody has that name: a call that rings then ends at once. Messages are not repeated by
/// `CallManager`; one that is lost in silence ends the call by a time-out (`CallConfiguration`).
///
/// **Threads.** Methods are called from any task. Several may be in progress: sending, and the notices of the network.
public protocol SignalingServerConnection: AnyObject, Sendable {
  /// True while messages get through at once.
  var isOpen: Bool { get async }

  /// Who hears what comes. Set before `connect`.
  func setDelegate(_ delegate: (any SignalingServerDelegate)?) async

  /// Connects and registers; afterwards it reconnects by itself when it breaks.
  /// - Returns: the name by which other peers reach this one; it stays the same after an interruption.
  /// - Throws: anything; the application sees it as `CallManagerError.signaling`.
  func connect() async throws -> PeerID

  /// Gives the name back and closes. May be called again.
  func disconnect() async

  /// Sends a JSON text (see `CallSignal`) to a peer. Returns when it is on its way; a failure is told to the delegate.
  func sendSignal(_ signal: [UInt8], to peer: PeerID) async

  /// Sends a candidate (see `CandidateSignal`) to a peer, in the same order as signals: one that was found after the
  /// description that it belongs to had gone. The remote peer's come as `SignalingEvent.candidate`.
  func sendICECandidate(_ candidate: [UInt8], to peer: PeerID) async

  /// Tells a peer that a call is over.
  /// - Parameter call: the identifier that the caller chose (`CallSignal.call`), so that a late message does not end the
  ///   next call of the two. It arrives as the `call` of `SignalingEvent.endCall`.
  func sendEndCall(_ call: String, to peer: PeerID) async

  /// The machine's network is back, or another than before: reconnect now instead of after a pause. Called by
  /// `CallManager`, which watches the network from `setupConnection` to `disconnect`.
  func onConnectionSatisfied() async

  /// The machine's network is gone: there is no use in trying until `onConnectionSatisfied`. Called likewise.
  func onConnectionUnsatisfied() async

  /// Enters a room: those in it are told, and it is told of them by `SignalingEvent.peers`.
  func join(room: String) async

  /// Leaves a room.
  func leave(room: String) async

  /// Asks who is at the server and, from now on, who comes and goes: `SignalingEvent.present`, `arrived` and `gone`.
  func followPeers() async
}

extension SignalingServerConnection {
  /// Does nothing.
  public func onConnectionSatisfied() async {}
  /// Does nothing.
  public func onConnectionUnsatisfied() async {}
  /// A server without rooms.
  public func join(room: String) async {}
  /// Does nothing.
  public func leave(room: String) async {}
  /// A server that does not say who is there.
  public func followPeers() async {}
}

/// Who hears what a signaling server says.
public protocol SignalingServerDelegate: AnyObject, Sendable {
  /// Called one after the other, in the order things happened.
  func signalingServer(_ event: SignalingEvent) async
}

/// What a signaling server says.
public enum SignalingEvent: Sendable {
  /// A JSON text, as it was given to `sendSignal`.
  case signal([UInt8], from: PeerID)
  /// STUN and TURN servers to use from now on, beside those of the configuration; they replace those told before. Comes
  /// with the connection, and again before credentials end.
  case iceServers([ICEServer])
  /// As it was given to `sendICECandidate`.
  case candidate([UInt8], from: PeerID)
  /// The call named, or all of them.
  case endCall(from: PeerID, call: String?)
  /// A message was refused or could not be delivered.
  case refused(HubRefusal)
  /// Who was in a room when we came.
  case peers(room: String, [PeerID])
  /// Somebody entered a room that we are in.
  case peerJoined(room: String, PeerID)
  /// Somebody left it.
  case peerLeft(room: String, PeerID)
  /// Who else is there, after `followPeers`; comes anew after an interruption.
  case present([PeerID])
  /// Somebody registered.
  case arrived(PeerID)
  /// Somebody left the server.
  case gone(PeerID)
  /// The connection broke and is being made anew; the sentence says why it broke.
  case interrupted(String)
  /// The connection is back, with the same name and rooms.
  case resumed
  /// There will be no connection any more; the sentence says why.
  case ended(String)
}
