package import RTCPrimitives

/// A trickled candidate of a call, as the bytes of `SignalingServerConnection.sendICECandidate`:
/// `{"call":ID,"candidate":{candidate, sdpMid, sdpMLineIndex, usernameFragment}}`, null after the last.
package struct CandidateSignal: Sendable, Hashable {
  /// Nil if the sender does not identify the call.
  package var call: String?
  /// Nil after the last.
  package var candidate: ICECandidateInit?

  package init(call: String?, candidate: ICECandidateInit?) {
    self.call = call
    self.candidate = candidate
  }

  /// Parses a message; nil if it is not a candidate.
  package init?(json: [UInt8]) {
    guard let message = try? HubMessageReader(parsing: json),
      case .candidate(let candidate, _)? = try? message.candidate("candidate"),
      let call = try? message.optionalText("call")
    else { return nil }
    self.init(call: call, candidate: candidate)
  }

  /// One JSON object.
  package var json: String {
    let body: (String, JSONValue) = ("candidate", candidate?.json ?? .null)
    return JSONValue.object((call.map { [("call", .string($0))] } ?? []) + [body]).text
  }
}
