import RTCPrimitives

/// Why publishing by WHIP failed; the text says whose fault it is and what to do next.
package enum WHIPError: Error, Sendable, Equatable {
  // The caller's.
  /// The text is not an http or https URL.
  case badURL(String)
  /// The token cannot be sent in a header.
  case badToken

  // The network's.
  /// DNS knows no such host.
  case unknownHost(String)
  /// The connection was refused: no program listens there.
  case refused(WebAddress)
  /// The network refused; the reason is the system's.
  case unreachable(WebAddress, reason: String)
  /// No answer within so many seconds.
  case timeout(WebAddress, seconds: Int)
  /// The certificate or the handshake was refused.
  case tls(WebAddress, reason: String)

  // The server's.
  /// 401 or 403, with the server's sentence where it says more than that.
  case unauthorized(status: Int, hadToken: Bool, sentence: String = "")
  /// Any other status that is no success, with the server's sentence.
  case httpStatus(Int, method: String, sentence: String)
  /// More than `WHIPExchange.redirectLimit` redirects.
  case redirectLoop(WebAddress)
  /// From https to http.
  case insecureRedirect(String)
  /// A redirect without a usable `Location`.
  case badRedirect(status: Int, location: String?)
  /// The answer is not `application/sdp`.
  case notSDP(contentType: String?)
  /// 201 without a usable `Location` of the session.
  case badLocation(String?)
  /// The reply has more bytes than `limit`.
  case tooLarge(limit: Int)
  /// The answer cannot be applied; the text says why.
  case brokenAnswer(String)

  /// The server says "not now".
  package var isBusy: Bool {
    if case .httpStatus(let status, _, _) = self { status == 429 || status == 503 } else { false }
  }

  /// The server knows the offer and does not want it, now or later.
  package var isFinal: Bool {
    switch self {
    case .unauthorized: true
    case .httpStatus(let status, _, _): (400...499).contains(status) && ![408, 409, 425, 429].contains(status)
    default: false
    }
  }

  /// The party at fault.
  package var fault: SignalingFault {
    switch self {
    case .badURL, .badToken: .caller
    case .unauthorized: .permission
    case .unknownHost, .refused, .unreachable, .timeout: .network
    case .tls, .httpStatus, .redirectLoop, .insecureRedirect, .badRedirect, .notSDP, .badLocation, .tooLarge,
      .brokenAnswer:
      .server
    }
  }
}

extension WHIPError: CustomStringConvertible {
  /// A sentence for the user: the reason and the remedy.
  package var description: String {
    switch self {
    case .badURL(let text): "\"\(text)\" is not a WHIP URL; it must look like https://host/path."
    case .badToken: "The token cannot be sent: it must be 1 to 1,024 visible ASCII characters."
    case .unknownHost(let host): "There is no host named \(host); check the URL, or this machine's name resolution."
    case .refused(let url): "Nothing listens at \(url); is the server running, and is the port right?"
    case .unreachable(let url, let reason): "\(url) cannot be reached (\(reason)); check the network."
    case .timeout(let url, let seconds): "\(url) did not answer within \(seconds) s; try again, or check the server."
    case .tls(let url, let reason): "No secure connection to \(url): \(reason.endingSentence)"
    case .unauthorized(let status, true, ""): "The server refused the token (\(status)); check --token."
    case .unauthorized(let status, true, let sentence): "The server refused the token (\(status)): \(sentence)"
    case .unauthorized(let status, false, _):
      "The server wants a token (\(status)): give the whole link, or the token by --token-file or --token."
    case .httpStatus(let status, let method, let sentence): Self.explain(status, method, sentence)
    case .redirectLoop(let url): "The server redirects in circles (last to \(url)); is this the WHIP URL?"
    case .insecureRedirect(let to):
      "The server redirects from https to \(to), which would publish in the clear; not followed."
    case .badRedirect(let status, nil): "The server answered \(status) without saying where to go instead."
    case .badRedirect(let status, let location?):
      "The server answered \(status) to the WHIP POST, pointing at \(location.foreignText()); publish to that URL if you trust it."
    case .notSDP(nil): "The server answered 201 but not with SDP; is this the WHIP URL?"
    case .notSDP(let type?):
      "The server answered 201 with \(type.foreignText()) where SDP belongs; is this the WHIP URL?"
    case .badLocation(nil):
      "The server accepted the offer but named no resource (no Location header): not a WHIP server?"
    case .badLocation(let text?):
      "The server accepted the offer but its Location header is useless: \(text.foreignText())"
    case .tooLarge(let limit): "The server's answer is longer than \(limit) bytes: not a WHIP server?"
    case .brokenAnswer(let what): "The server's answer is broken: \(what.foreignText().endingSentence)"
    }
  }

  private static func explain(_ status: Int, _ method: String, _ sentence: String) -> String {
    let said = sentence.isEmpty ? "" : " (\(sentence))"
    let hint =
      switch status {
      case 404, 405, 200...299: "is this the WHIP URL?"
      case 400, 406, 415, 422: "it does not accept this offer; try another --codec."
      case 426: "use https:// there."
      case 409: "somebody may be publishing there already."
      case 429, 503: "it is busy; try again later."
      case 500...599: "the fault is the server's; see its log."
      default: "is this the WHIP URL?"
      }
    return "The server answered \(status) to the WHIP \(method)\(said): \(hint)"
  }
}

extension String {
  /// The text as the end of a sentence: with a full stop, unless it ends with a mark of its own.
  var endingSentence: String { last == "?" || last == "." ? self : self + "." }
}
