public import RTCPrimitives

/// Sessions that begin with an offer by HTTP, and are amended and closed: of viewers (WHEP) and of publishers (WHIP).
///
/// Descriptions are opaque text here. Calls come from any task, several at once.
public protocol OfferSessions: Sendable {
  /// Opens a session.
  /// - Parameters:
  ///   - stream: the name in `/whep/NAME` or `/whip/NAME`, nil for the only or default stream.
  ///   - offer: the client's SDP, at most the server's body limit, never empty.
  ///   - remote: the IP address the request came from, without a port.
  func open(stream: String?, offer: String, remote: String) async throws(WHEPRefusal) -> WHEPAnswer

  /// Opens a session with an offer of ours, for a client that has sent none (draft-ietf-wish-whep); its answer follows
  /// by `accept`.
  /// - Returns: our offer in the place of an answer.
  func offer(stream: String?, remote: String) async throws(WHEPRefusal) -> WHEPAnswer

  /// As `open(stream:offer:remote:)`, for a client behind a proxy on this machine; `remote` is then the proxy's
  /// address.
  /// - Parameter place: the client's own address, or this machine's address by which the client reaches the proxy. The
  ///   client is offered the addresses of that network. Nil if `remote` is the client's address.
  func open(stream: String?, offer: String, remote: String, place: IPAddress?) async throws(WHEPRefusal) -> WHEPAnswer

  /// As `offer(stream:remote:)`, for a client behind a proxy on this machine.
  func offer(stream: String?, remote: String, place: IPAddress?) async throws(WHEPRefusal) -> WHEPAnswer

  /// Applies the client's answer to our offer, or to none: then it is refused.
  func accept(id: String, answer: String) async throws(WHEPRefusal)

  /// The entity tag of a session's present ICE generation, without quotes; nil when there is no such session.
  func etag(of id: String) async -> String?

  /// Sentences for the viewer on why a session has no connection yet, and what to do; nil if it has one, or nothing is known.
  func diagnosis(of id: String, checks: ViewerChecks) async -> String?

  /// Applies a `trickle-ice-sdpfrag` (RFC 8840): more candidates, or an ICE restart.
  /// - Parameter etag: the entity tag of `If-Match` without its quotes, `*` as it is; nil when the viewer sent none.
  func patch(id: String, fragment: String, etag: String?) async throws(WHEPRefusal) -> WHEPPatchResult

  /// STUN and TURN servers for clients, sent in `Link` headers (RFC 9725 §4.6).
  var iceServers: [ICEServer] { get }

  /// The number of refusals because of a limit, by subject.
  var refusals: [RefusalCounts.Subject: UInt64] { get }

  /// Ends a session. False when there is none of that name.
  func close(id: String) async -> Bool
}

extension OfferSessions {
  /// No servers.
  public var iceServers: [ICEServer] { [] }

  /// No refusals are counted.
  public var refusals: [RefusalCounts.Subject: UInt64] { [:] }

  /// Nothing is known.
  public func diagnosis(of id: String, checks: ViewerChecks) async -> String? { nil }

  /// Refuses: clients are to offer.
  public func offer(stream: String?, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    throw .malformedOffer("it is empty")
  }

  /// Takes the client for one on this machine.
  public func open(
    stream: String?, offer: String, remote: String, place: IPAddress?
  ) async throws(WHEPRefusal) -> WHEPAnswer {
    try await open(stream: stream, offer: offer, remote: remote)
  }

  /// Takes the client for one on this machine.
  public func offer(stream: String?, remote: String, place: IPAddress?) async throws(WHEPRefusal) -> WHEPAnswer {
    try await offer(stream: stream, remote: remote)
  }

  /// Refuses: there was no offer.
  public func accept(id: String, answer: String) async throws(WHEPRefusal) { throw .noOffer }
}

/// The sessions of a program that casts, as a signaling server needs them: viewers open, amend and close them (WHEP).
public protocol WHEPSessions: OfferSessions {
  /// The status for `GET /health`.
  func status() async -> CastStatus

  /// The whole picture as it is now; nil where there is none to be had. However often it is asked for, it is made once.
  func snapshot() async -> CastSnapshot?

  /// The still pictures of the one stream of these sessions; nil: there are none.
  var pictures: (any StreamPictures)? { get }

  /// The streams with names, for a page that shows all of them.
  func listing() async -> [StreamListing]

  /// The hub that has a stream that is not here; nil: it is here, or nowhere.
  func place(of stream: String?) -> StreamPlace?

  /// A still picture of the stream of that name; nil: there is none.
  /// - Parameter width: see `StreamPictures.picture(width:)`.
  func picture(of stream: String, width: Int) async -> StillPicture?

  /// The figures for `GET /metrics`, besides those of `status()`.
  func metrics() async -> [CastMetric]
}

extension WHEPSessions {
  /// No still pictures.
  public var pictures: (any StreamPictures)? { nil }

  /// There is no other hub.
  public func place(of stream: String?) -> StreamPlace? { nil }

  /// No streams with names.
  public func listing() async -> [StreamListing] { [] }

  /// No picture.
  public func picture(of stream: String, width: Int) async -> StillPicture? { nil }

  /// No snapshot.
  public func snapshot() async -> CastSnapshot? { nil }

  /// No further figures.
  public func metrics() async -> [CastMetric] { [] }
}

/// An opened session.
public struct WHEPAnswer: Sendable, Equatable {
  /// Unguessable, since knowing it is the right to amend and close the session; letters, digits, `-` and `_` only.
  public var id: String
  /// The SDP answer.
  public var answer: String
  /// Entity tag of the present ICE generation, without quotes.
  public var etag: String

  /// Makes an answer.
  public init(id: String, answer: String, etag: String) {
    self.id = id
    self.answer = answer
    self.etag = etag
  }
}

/// The result of a patch.
public enum WHEPPatchResult: Sendable, Equatable {
  /// Candidates taken: 204.
  case noContent
  /// ICE restarted: 200 with our own fragment and the entity tag of the new generation.
  case restarted(fragment: String, etag: String)
}

/// The state of the cast in a few figures.
public struct CastStatus: Sendable, Equatable {
  /// False once the cast is over, for as long as the server still answers.
  public var isLive: Bool
  /// Connected and connecting.
  public var viewers: Int
  /// Names of the streams that `/whep/NAME` knows; empty when there is only the default one.
  public var streams: [String]

  /// Makes a status.
  public init(isLive: Bool, viewers: Int, streams: [String] = []) {
    self.isLive = isLive
    self.viewers = viewers
    self.streams = streams
  }

  /// One JSON object. Without `detail` only whether the cast is live, which anybody may know.
  public func json(hub: HubCounters? = nil, detail: Bool) -> String {
    let state = #""status":"\#(isLive ? hub?.isDegraded == true ? "degraded" : "live" : "ended")""#
    guard detail else { return "{\(state)}" }
    let names = streams.map(Self.quoted).joined(separator: ",")
    let hubPart = hub.map { #","hub":\#($0.json)"# } ?? ""
    return #"{\#(state),"viewers":\#(viewers),"streams":[\#(names)]\#(hubPart)}"#
  }

  private static func quoted(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case _ where scalar.value < 0x20:
        let hex = String(scalar.value, radix: 16)
        out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out + "\""
  }
}

/// The whole picture as it was at one moment.
public struct CastSnapshot: Sendable, Equatable {
  /// A WebP file.
  public var webP: [UInt8]
  /// The number by which the viewer refers to the snapshot; nil if its pixels are not exact.
  public var number: UInt32?

  /// Makes a snapshot.
  public init(webP: [UInt8], number: UInt32? = nil) {
    self.webP = webP
    self.number = number
  }
}
