import RTCSignaling
import RTCWire
import Synchronization

/// The ICE generation of a client's session, and the precondition of a PATCH that changes it (RFC 9725 §4.3). Any
/// thread, but one PATCH at a time.
final class ICEGeneration: Sendable {
  private struct State {
    var number = 1
    /// The client's; nil before its description has come.
    var usernameFragment: String?
  }

  private let state: Mutex<State>

  /// - Parameter description: the client's offer or answer; nil while its answer is awaited.
  init(_ description: String? = nil) {
    state = Mutex(State(usernameFragment: description.flatMap(Self.usernameFragment)))
  }

  /// Without quotes.
  var etag: String { state.withLock { String($0.number) } }

  /// The client has answered our offer.
  func note(answer: String) { state.withLock { $0.usernameFragment = Self.usernameFragment(in: answer) } }

  /// Whether a fragment restarts ICE. Candidates are taken without `If-Match` too, as many clients send none.
  /// - Throws: `WHEPRefusal.etagMismatch` or `etagRequired`.
  func restarts(with fragment: String, etag: String?) throws(WHEPRefusal) -> Bool {
    let name = Self.usernameFragment(in: fragment)
    let state = state.withLock { $0 }
    if let etag, etag != "*", etag != String(state.number) { throw .etagMismatch }
    guard let name, let known = state.usernameFragment, name != known else { return false }
    if etag == nil { throw .etagRequired }
    return true
  }

  /// ICE has restarted with the fragment's credentials.
  func advance(to fragment: String) {
    let name = Self.usernameFragment(in: fragment)
    state.withLock { state in
      state.number += 1
      state.usernameFragment = name
    }
  }

  private static func usernameFragment(in text: String) -> String? {
    (try? TrickleFragment(parsing: text))?.effectiveCredentials?.usernameFragment
  }
}
