public import RTCPrimitives
public import RTCSignaling

/// The name of a peer at the signaling server.
public typealias PeerID = String

/// The connection to a signaling server, replaceable by an application: messages between peers, and rooms if the server
/// has them. `HubSignaling` is rtcast's; `Snippets/OwnSignaling.swift` implements another.
///
/// **Order.** `CallManager` calls the sending methods one after the other and waits for each. Messages from one peer to
/// another must be delivered in that order and at most once: an offer that overtakes its ring ends the call.
///
/// **Loss.** After an interruption the connection reconnects by itself, passes `.interrupted` and `.resumed` to the
/// delegate, and sends the waiting messages. It reports a message that it cannot deliver by `.refused`, with the peer's
/// name and the code `unknown-peer` if there is no such peer: a call that rings then ends at once. `CallManager` does
/// not repeat messages; one that is lost silently ends the call by a time-out (`CallConfiguration`).
///
/// **Threads.** Methods are called from any task. Several may be in progress: sending, and the notices of the network.
public protocol SignalingServerConnection: AnyObject, Sendable {
  /// True while messages get through at once.
  var isOpen: Bool { get async }

  /// Sets the receiver of the server's events. Called before `connect`.
  func setDelegate(_ delegate: (any SignalingServerDelegate)?) async

  /// Connects and registers; afterwards it reconnects by itself when it breaks.
  /// - Returns: the name by which other peers reach this one; it stays the same after an interruption.
  /// - Throws: anything; the application sees it as `CallManagerError.signaling`.
  func connect() async throws -> PeerID

  /// Gives the name back and closes. May be called again.
  func disconnect() async

  /// Sends a JSON text (see `CallSignal`) to a peer. Returns when it is on its way; a failure is passed to the
  /// delegate.
  func sendSignal(_ signal: [UInt8], to peer: PeerID) async

  /// Sends a candidate (see `CandidateSignal`) to a peer, in the same order as signals: one that was found after the
  /// description that it belongs to had gone. The remote peer's come as `SignalingEvent.candidate`.
  func sendICECandidate(_ candidate: [UInt8], to peer: PeerID) async

  /// Notifies a peer that a call has ended.
  /// - Parameter call: the identifier that the caller chose (`CallSignal.call`), so that a late message does not end
  ///   the next call of the two peers. It arrives as the `call` of `SignalingEvent.endCall`.
  func sendEndCall(_ call: String, to peer: PeerID) async

  /// The machine's network is back, or another than before: reconnect now instead of after a pause. Called by
  /// `CallManager`, which watches the network from `setupConnection` to `disconnect`.
  func onConnectionSatisfied() async

  /// The machine has no network: do not try to connect until `onConnectionSatisfied`. Called from the same task.
  func onConnectionUnsatisfied() async

  /// Enters a room. Its members are notified, and arrive here as `SignalingEvent.peers`.
  func join(room: String) async

  /// Leaves a room.
  func leave(room: String) async

  /// Requests the list of peers at the server and its changes: `SignalingEvent.present`, `arrived` and `gone`.
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

/// Receives the events of a signaling server.
public protocol SignalingServerDelegate: AnyObject, Sendable {
  /// Called one after the other, in the order things happened.
  func signalingServer(_ event: SignalingEvent) async
}

/// An event of a signaling server.
public enum SignalingEvent: Sendable {
  /// A JSON text, as it was given to `sendSignal`.
  case signal([UInt8], from: PeerID)
  /// STUN and TURN servers to use from now on, in addition to those of the configuration; they replace the previous
  /// ones. Sent when connected, and before credentials expire.
  case iceServers([ICEServer])
  /// An ICE candidate, as it was given to `sendICECandidate`.
  case candidate([UInt8], from: PeerID)
  /// The peer ended the given call, or, without `call`, all calls with us.
  case endCall(from: PeerID, call: String?)
  /// A message was refused or could not be delivered.
  case refused(HubRefusal)
  /// The members of a room at our arrival.
  case peers(room: String, [PeerID])
  /// A peer has entered a room that we are in.
  case peerJoined(room: String, PeerID)
  /// A peer has left the room.
  case peerLeft(room: String, PeerID)
  /// All other peers at the server, after `followPeers`; repeated after an interruption.
  case present([PeerID])
  /// A peer has registered.
  case arrived(PeerID)
  /// A peer has left the server.
  case gone(PeerID)
  /// The connection broke and is being re-established; the sentence gives the reason.
  case interrupted(String)
  /// The connection is back, with the same name and rooms.
  case resumed
  /// The connection has ended for good; the sentence gives the reason.
  case ended(String)
}
