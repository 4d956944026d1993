/// The reason for refusing a request: an HTTP status and a sentence for the user.
public enum WHEPRefusal: Error, Sendable, Equatable {
  /// The body is not a usable SDP offer, for the given reason.
  case malformedOffer(String)
  /// The body is not a trickle fragment, for the given reason.
  case malformedFragment(String)
  /// No stream has this name: 404.
  case noSuchStream(String)
  /// No name was said and there is not just one stream; the names that there are.
  case streamNotNamed([String])
  /// No session has this identifier: 404.
  case noSuchSession
  /// The name has a publisher already.
  case streamTaken(String)
  /// The other hubs, which may have a stream of that name, cannot be reached: 503.
  case clusterUnavailable
  /// The relay has as many streams as it takes: 503.
  case tooManyStreams(limit: Int)
  /// The viewer decodes none of the cast's codecs, which are given.
  case noCommonCodec(offered: String)
  /// Well-formed but impossible to answer (no video section, no DTLS fingerprint, …); why.
  case unusableOffer(String)
  /// The body is not a usable SDP answer, for the given reason.
  case unusableAnswer(String)
  /// An answer, where this side has not offered.
  case noOffer
  /// An ICE restart without `If-Match`.
  case etagRequired
  /// `If-Match` names another ICE generation.
  case etagMismatch
  /// The session takes no trickled candidates.
  case trickleUnsupported
  /// The cast has as many viewers as it takes: 503.
  case tooManyViewers(limit: Int)
  /// The presenter has refused the viewer: 403.
  case notAdmitted
  /// The presenter has not decided about the viewer yet: 503.
  case admissionPending
  /// There is nothing to send yet; try again after the given seconds.
  case notReady(retryAfter: Int)
  /// A fault of ours; what happened.
  case failed(String)

  /// The HTTP status.
  public var status: Int {
    switch self {
    case .malformedOffer, .malformedFragment: 400
    case .notAdmitted: 403
    case .noSuchStream, .streamNotNamed, .noSuchSession: 404
    case .trickleUnsupported: 405
    case .noCommonCodec: 406
    case .streamTaken, .noOffer: 409
    case .etagMismatch: 412
    case .unusableOffer, .unusableAnswer: 422
    case .etagRequired: 428
    case .failed: 500
    case .clusterUnavailable, .tooManyViewers, .tooManyStreams, .admissionPending, .notReady: 503
    }
  }

  /// The body, for a person: one sentence or more, with one full stop at the end.
  public var sentence: String {
    var text = words
    while text.hasSuffix("..") { text.removeLast() }
    return text
  }

  private var words: String {
    switch self {
    case .malformedOffer(let what): "The body is not a usable SDP offer: \(what)."
    case .malformedFragment(let what): "The body is not a trickle-ice-sdpfrag: \(what)."
    case .noSuchStream(let name): "There is no stream named \"\(name)\" here."
    case .streamNotNamed(let names) where names.isEmpty: "There is no stream here at the moment."
    case .streamNotNamed(let names): "Name one of the streams here, as in /whep/NAME: \(names.joined(separator: ", "))."
    case .streamTaken(let name): "Somebody publishes as \"\(name)\" already; choose another name."
    case .clusterUnavailable:
      "This hub cannot reach the other hubs now, one of which may have a stream of that name. Try again in a moment."
    case .tooManyStreams(let limit): "This server has as many streams as it allows (\(limit))."
    case .noSuchSession: "There is no such session; it may have expired."
    case .noCommonCodec(let codecs): "The offer has no video codec in common with this cast, which can send \(codecs)."
    case .unusableOffer(let why): "The offer cannot be answered: \(why)."
    case .unusableAnswer(let why): "The answer cannot be used: \(why)."
    case .noOffer: "This server made no offer that this could be the answer to."
    case .etagRequired: "An ICE restart needs an If-Match header with the session's ETag, or *."
    case .etagMismatch: "The If-Match header does not name the session's present ETag."
    case .trickleUnsupported: "This session takes no trickled candidates."
    case .tooManyViewers(let limit): "The cast has as many viewers as it allows (\(limit))."
    case .notAdmitted: "This server did not admit you. Ask the person who sent you the link."
    case .admissionPending: "The presenter has not admitted you yet. Try again shortly."
    case .notReady: "The cast has nothing to send yet; try again shortly."
    case .failed(let what): "The server failed: \(what)."
    }
  }

  /// Seconds for `Retry-After`, where waiting may help.
  public var retryAfter: Int? {
    switch self {
    case .tooManyViewers, .tooManyStreams: 5
    case .admissionPending: 1
    case .clusterUnavailable: 2
    case .notReady(let seconds): seconds
    default: nil
    }
  }
}
