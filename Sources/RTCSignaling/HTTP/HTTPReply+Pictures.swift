import RTCDTLS
import RTCPrimitives

// Replies to pages that show many still pictures. Each has an entity tag, so that asking again for an unchanged picture
// costs a header.

extension HTTPReply {
  /// The list of streams; 304 if the page has it already.
  package static func listing(_ streams: [StreamListing], known: [String]) -> HTTPReply {
    json(JSONValue.object([("streams", .array(streams.map(\.json)))]).text, known: known)
  }

  /// A JSON object; 304 if the page has it already.
  package static func json(_ text: String, known: [String]) -> HTTPReply {
    let body = Array(text.utf8)
    let tag = Base64URL.encode(Array(MessageAuthentication.sha256(body).prefix(9)))
    return tagged(tag, body, type: "application/json", known: known)
  }

  /// A still picture; 304 if the page has it already.
  /// - Parameter lack: the sentence for a page that asks for a picture that there is not.
  package static func still(_ picture: StillPicture?, known: [String], lack: String) -> HTTPReply {
    guard let picture else { return HTTPReply(status: 404, sentence: lack, headers: ["Cache-Control": "no-store"]) }
    return tagged(picture.tag, picture.webP, type: "image/webp", known: known)
  }

  private static func tagged(_ tag: String, _ body: [UInt8], type: String, known: [String]) -> HTTPReply {
    let isKnown = known.contains(tag)
    return HTTPReply(
      status: isKnown ? 304 : 200,
      headers: ["Content-Type": type, "Cache-Control": "no-store", "ETag": "\"\(tag)\""], body: isKnown ? [] : body)
  }

  /// The reply to a choice of the caster.
  /// - Parameter refusal: the reason why the source is not cast, in a sentence.
  package static func picked(refusal: String?) -> HTTPReply {
    refusal.map { HTTPReply(status: 409, sentence: $0) } ?? HTTPReply(status: 204)
  }
}
