/// The session resource that a server made for an offer (RFC 9725 §4.3), as seen by its client: its address, its entity
/// tag, and the features that the server lacks.
struct WHIPResource: Sendable {
  /// The purpose of a PATCH.
  enum Patch: Sendable, Hashable {
    /// Candidates that came after the offer.
    case candidates
    /// New credentials for ICE.
    case restart
    /// The answer to the server's own offer.
    case answer
  }

  /// The result of a PATCH.
  enum PatchResult: Sendable, Hashable {
    case taken
    /// ICE restarted; the server's fragment.
    case restarted(fragment: String)
    /// The server does not support such patches; do not send more. The session continues.
    case unsupported
    /// Send the same patch again at once, with the changed `request`.
    case again
    /// Not now; in so many seconds, where the server says.
    case later(Int?)
    /// The server knows the session no longer, or does not let us.
    case gone
  }

  private(set) var address: WebAddress
  private(set) var takesCandidates = true
  private(set) var restarts = true
  private let credentials: WHIPCredentials
  /// The entity tag as the server wrote it.
  private var etag: String?
  /// How many spellings of `If-Match` the server has refused.
  private var refusals: [Patch: Int] = [:]
  private var tagChanges = 0
  private var redirects = 0

  init(_ publication: WHIPPublication, _ credentials: WHIPCredentials) {
    address = publication.resource
    etag = publication.etag
    self.credentials = credentials
  }

  func request(_ patch: Patch, id: Int, body: String) -> WHIPRequest {
    let tags = spellings(for: patch)
    return WHIPRequest(
      id: id, .patch, address, authorization: credentials.authorization(for: address),
      contentType: patch == .answer ? "application/sdp" : "application/trickle-ice-sdpfrag",
      ifMatch: tags[min(refusals[patch] ?? 0, tags.count - 1)], body: body)
  }

  func deletion(id: Int) -> WHIPRequest {
    WHIPRequest(id: id, .delete, address, authorization: credentials.authorization(for: address))
  }

  /// The `If-Match` values to try. A restart uses `*` (RFC 9725 §4.3.3). Candidates use the tag, first as the server
  /// wrote it, since some servers compare the text only. A server that named no tag but requires one gets `*`.
  private func spellings(for patch: Patch) -> [String?] {
    guard patch != .answer else { return [nil] }
    var tags: [String?] = patch == .restart ? ["*"] : []
    if let etag {
      var bare = etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...]
      if bare.utf8.count >= 2, bare.hasPrefix("\""), bare.hasSuffix("\"") { bare = bare.dropFirst().dropLast() }
      for tag in [etag, "\"\(bare)\"", String(bare)] where !tags.contains(tag) && (tag != "\"*\"" || etag == tag) {
        tags.append(tag)
      }
    } else if patch == .candidates {
      tags = [nil, "*"]
    }
    return tags
  }

  // MARK: - Answers

  mutating func receive(_ response: WHIPResponse, to patch: Patch) -> PatchResult {
    switch response.status {
    case 200...299: return content(response, patch)
    case 307, 308: return follow(response, patch)
    case 412, 428: return mismatch(response, patch)
    case 401, 403, 404, 410: return patch == .restart ? .gone : without(patch)
    case 408, 409, 425, 429, 500, 502...599: return .later(response.retryAfter)
    // 405, 415, 422, 501 and all others: by RFC 9725 §4.3.1 the server answers so if it lacks trickle ICE or restarts.
    default: return without(patch)
    }
  }

  private mutating func content(_ response: WHIPResponse, _ patch: Patch) -> PatchResult {
    guard patch == .restart else { return .taken }
    // Servers that take candidates alone answer 204 to a restart as well, and have not restarted.
    guard response.body.contains("ice-ufrag") else { return without(.restart) }
    etag = response.values("etag").first ?? etag
    return .restarted(fragment: response.body)
  }

  private mutating func mismatch(_ response: WHIPResponse, _ patch: Patch) -> PatchResult {
    if let present = response.values("etag").first, present != etag, tagChanges < 3 {
      // A server that names a new tag each time is not asked for ever.
      tagChanges += 1
      etag = present
      refusals[patch] = patch == .restart ? 1 : 0
      return .again
    }
    let count = (refusals[patch] ?? 0) + 1
    refusals[patch] = count
    return count < spellings(for: patch).count ? .again : without(patch)
  }

  /// RFC 9725 §4.5 does not require redirects of PATCH and DELETE; some servers send them.
  private mutating func follow(_ response: WHIPResponse, _ patch: Patch) -> PatchResult {
    guard move(response) else { return without(patch) }
    return .again
  }

  /// Takes up the address that a redirect names; false when there is none that may be used.
  mutating func move(_ response: WHIPResponse) -> Bool {
    redirects += 1
    guard redirects <= WHIPExchange.redirectLimit, let location = response.values("location").first,
      let next = address.resolving(location), !(address.scheme == .https && next.scheme == .http)
    else { return false }
    address = next
    return true
  }

  private mutating func without(_ patch: Patch) -> PatchResult {
    switch patch {
    case .candidates: takesCandidates = false
    case .restart: restarts = false
    case .answer: break
    }
    return .unsupported
  }
}
