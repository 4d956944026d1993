package import RTCWire

/// The state of the offer/answer exchange (RFC 8829 §3.2). Provisional answers are not used.
public enum SignalingState: Hashable, Sendable {
  case stable, haveLocalOffer, haveRemoteOffer, closed
}

/// The offer/answer exchange of one peer connection (RFC 8829): unified plan, one bundled transport with rtcp-mux.
/// A plain value without time, randomness or I/O; a step that throws leaves it as it was. Belongs to one thread.
///
///     offering:   createOffer → setRemoteAnswer
///     answering:  setRemoteOffer → createAnswer
///
/// Either way `session` is then what both agreed on. When both sides offer at once, the polite one rolls back.
package struct Negotiation: Sendable {
  /// Taken over by the next description that is made. Replace the credentials to restart ICE.
  package var transport: LocalTransport
  /// Nil: the peer's m-sections for data channels are rejected, and one that is in use is turned off by the next offer.
  package var dataChannels: LocalDataChannels?
  var transceivers: [Transceiver] = []
  var state: State = .stable(nil)
  private let sessionID: UInt64
  private var version: UInt64 = 0
  let cname: String
  /// Formats of repair are named in our offers too, not only in answers to offers that name them.
  package var offersRepair = false

  /// `sessionID` is a random number below 2⁶³, `cname` a random name of this end (RFC 7022 §4.2).
  package init(sessionID: UInt64, cname: String, transport: LocalTransport) {
    self.sessionID = sessionID & UInt64(Int64.max)
    self.cname = cname
    self.transport = transport
  }

  // MARK: Transceivers

  /// Adds a transceiver; it is offered next time, or takes up a matching m-section of the peer's next offer.
  package mutating func add(_ media: LocalTransceiver, for purpose: TransceiverPurpose = .anything) -> TransceiverID {
    transceivers.append(Transceiver(media: media, life: .running, purpose: purpose))
    return TransceiverID(index: transceivers.count - 1)
  }

  /// All transceivers, in the order they were added, except those that a rollback removed.
  package var transceiverIDs: [TransceiverID] {
    transceivers.indices.filter { transceivers[$0].life != .takenBack }.map { TransceiverID(index: $0) }
  }

  /// The name of the m-section that is the transceiver's in the pending or else the current descriptions.
  package func mid(of id: TransceiverID) -> String? {
    switch state {
    case .haveLocalOffer(let offer, _): offer.lines.first { $0.transceiver == id }?.mid
    case .haveRemoteOffer(let offer, let before):
      offer.owners.first { $0.value == id }.flatMap { offer.description.media[$0.key].mid }
        ?? before?.lines.first { $0.transceiver == id }?.mid
    case .stable(let agreement), .closed(let agreement): agreement?.lines.first { $0.transceiver == id }?.mid
    }
  }

  /// Marks the transceiver as used for a track of ours, whatever it was made for.
  package mutating func claim(_ id: TransceiverID) {
    if transceivers[id.index].purpose == .remoteSection { transceivers[id.index].purpose = .track }
  }

  /// The wanted properties of a transceiver. Changes take effect with the next description; the kind never changes.
  package subscript(id: TransceiverID) -> LocalTransceiver {
    get { transceivers[id.index].media }
    set {
      precondition(newValue.kind == transceivers[id.index].media.kind, "a transceiver keeps its kind")
      transceivers[id.index].media = newValue
    }
  }

  /// Stops a transceiver for good; the next offer turns its m-section off.
  package mutating func stop(_ id: TransceiverID) { transceivers[id.index].life = .stopped }

  /// True when it was stopped by either side.
  package func isStopped(_ id: TransceiverID) -> Bool { transceivers[id.index].life != .running }

  /// True for an ID that this negotiation gave out.
  package func knows(_ id: TransceiverID) -> Bool {
    transceivers.indices.contains(id.index) && transceivers[id.index].life != .takenBack
  }

  // MARK: State

  /// The state of the exchange: which offer, if any, waits for its answer.
  package var signalingState: SignalingState {
    switch state {
    case .stable: .stable
    case .haveLocalOffer: .haveLocalOffer
    case .haveRemoteOffer: .haveRemoteOffer
    case .closed: .closed
    }
  }

  /// The last agreement; still in force while the next is being negotiated.
  package var session: NegotiatedSession? { state.agreement?.session }

  /// Our pending or else current description.
  package var localDescription: SessionDescription? {
    if case .haveLocalOffer(let offer, _) = state { offer.description } else { state.agreement?.local }
  }

  /// The peer's pending or else current description, for tests.
  package var remoteDescription: SessionDescription? {
    if case .haveRemoteOffer(let offer, _) = state { offer.description } else { state.agreement?.remote }
  }

  /// Drops the pending offer, ours or the peer's (RFC 8829 §4.1.10.2).
  package mutating func rollback() throws(NegotiationError) {
    switch state {
    case .haveLocalOffer(_, let before): state = .stable(before)
    case .haveRemoteOffer(let offer, let before):
      // Transceivers that were made for the dropped offer only are removed with it, unless they were used meanwhile.
      for id in offer.made where transceivers[id.index].purpose == .remoteSection {
        transceivers[id.index].life = .takenBack
      }
      state = .stable(before)
    case .stable, .closed: throw .misuse(.wrongState(signalingState))
    }
  }

  /// Ends the negotiation; nothing but reading is possible afterwards.
  package mutating func close() { state = .closed(state.agreement) }

  // MARK: Shared by the roles

  struct Transceiver: Hashable, Sendable {
    var media: LocalTransceiver
    var life: Life
    var purpose: TransceiverPurpose

    enum Life: Hashable, Sendable {
      case running, stopped
      /// Made for an offer of the peer that was rolled back.
      case takenBack
    }
  }

  // Copyable, unlike the machines that own resources: a step works on copies and assigns the new state last.
  enum State: Sendable {
    case stable(Agreement?)
    case haveLocalOffer(LocalOffer, before: Agreement?)
    case haveRemoteOffer(RemoteOffer, before: Agreement?)
    case closed(Agreement?)

    var agreement: Agreement? {
      switch self {
      case .stable(let agreement), .haveLocalOffer(_, let agreement), .haveRemoteOffer(_, let agreement),
        .closed(let agreement):
        agreement
      }
    }
  }

  struct LocalOffer: Sendable {
    var description: SessionDescription
    var lines: [MediaLine]
    var credentials: ICECredentials
  }

  struct RemoteOffer: Sendable {
    var description: SessionDescription
    /// How its m-sections are taken up.
    var matching: Matching
    /// The transceiver of each m-section (by position), if it was decided when the offer arrived.
    var owners: [Int: TransceiverID] = [:]
    /// The transceivers that were made for it.
    var made: [TransceiverID] = []

    enum Matching: Hashable, Sendable {
      /// By any transceiver of their kind, when the answer is made; what finds none is turned off.
      case whateverFits
      /// As `owners` says.
      case settled
    }
  }

  struct Agreement: Sendable {
    /// The side that made the offer.
    var offerer: Offerer
    var local: SessionDescription
    var remote: SessionDescription
    var lines: [MediaLine]
    var session: NegotiatedSession
  }

  enum Offerer: Sendable {
    case us, peer
  }

  /// An empty description under the next version number.
  mutating func newDescription() -> SessionDescription {
    version += 1
    var description = SessionDescription(
      origin: SessionDescription.Origin(sessionID: sessionID, version: version))
    description.streamSemantics = "WMS *"
    return description
  }

  /// Stops the transceivers whose m-section is gone.
  mutating func stopUnused(before: [TransceiverID], after: [MediaLine]) {
    for id in before where !after.contains(where: { $0.transceiver == id }) {
      transceivers[id.index].life = .stopped
    }
  }
}
