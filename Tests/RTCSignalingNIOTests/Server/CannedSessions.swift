import RTCPrimitives
import RTCSignaling
import Synchronization

/// Sessions without media: an offer says in its second line what is to become of it.
final class CannedSessions: WHEPSessions {
  struct Record {
    var offers: [String] = []
    var remotes: [String] = []
    var streams: [String?] = []
    var fragments: [String] = []
    var answers: [String] = []
    var etags: [String?] = []
    var open: Set<String> = []
    var closed: [String] = []
    /// Offers whose work was cancelled.
    var cancelled = 0
  }

  private let record = Mutex(Record())
  private let gate = Gate()

  var seen: Record { record.withLock { $0 } }

  /// Lets the offers that wait go on.
  func release() { gate.open() }

  /// Returns once so many offers have arrived.
  let arrivals = Counter()
  let closings = Counter()

  static let plain = "v=0\r\n"
  static let waiting = "v=0\r\ns=wait\r\n"
  static let noCodec = "v=0\r\ns=406\r\n"

  func open(stream: String?, offer: String, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    let id = record.withLock { record in
      record.offers.append(offer)
      record.remotes.append(remote)
      record.streams.append(stream)
      return "session-\(record.offers.count)"
    }
    arrivals.add()
    if !offer.hasPrefix("v=0") { throw .malformedOffer("it does not begin with v=0") }
    if offer == Self.noCodec { throw .noCommonCodec(offered: "VP8") }
    if let stream, stream != "main" { throw .noSuchStream(stream) }
    if offer == Self.waiting { await gate.pass() }
    record.withLock { record in
      if Task.isCancelled { record.cancelled += 1 }
      record.open.insert(id)
    }
    return WHEPAnswer(id: id, answer: "v=0\r\ns=answer\r\n", etag: "1")
  }

  func patch(id: String, fragment: String, etag: String?) async throws(WHEPRefusal) -> WHEPPatchResult {
    guard record.withLock({ $0.open.contains(id) }) else { throw .noSuchSession }
    record.withLock { record in
      record.fragments.append(fragment)
      record.etags.append(etag)
    }
    if let etag, etag != "1", etag != "*" { throw .etagMismatch }
    return fragment.contains("ice-ufrag:new") ? .restarted(fragment: "a=ice-ufrag:ours\r\n", etag: "2") : .noContent
  }

  func etag(of id: String) async -> String? { seen.open.contains(id) ? "1" : nil }

  func offer(stream: String?, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    let id = record.withLock { record in
      record.offers.append("")
      record.open.insert("session-\(record.offers.count)")
      return "session-\(record.offers.count)"
    }
    return WHEPAnswer(id: id, answer: "v=0\r\ns=our offer\r\n", etag: "1")
  }

  func accept(id: String, answer: String) async throws(WHEPRefusal) {
    guard record.withLock({ $0.open.contains(id) }) else { throw .noSuchSession }
    guard answer.hasPrefix("v=0") else { throw .unusableAnswer("it does not begin with v=0") }
    record.withLock { $0.answers.append(answer) }
  }

  let servers = Mutex<[ICEServer]>([])
  var iceServers: [ICEServer] { servers.withLock { $0 } }

  func close(id: String) async -> Bool {
    defer { closings.add() }
    return record.withLock { record in
      record.closed.append(id)
      return record.open.remove(id) != nil
    }
  }

  func status() async -> CastStatus { CastStatus(isLive: true, viewers: seen.open.count) }
}

/// Lets nobody pass until it is opened, then everybody.
final class Gate: Sendable {
  private let opening = Counter()

  func open() { opening.add() }

  func pass() async { await opening.reach(1) }
}

/// Counts events and lets a test await the nth.
final class Counter: Sendable {
  private struct State {
    var count = 0
    var waiting: [(Int, AsyncStream<Void>.Continuation)] = []
  }

  private let state = Mutex(State())

  func add() {
    let due = state.withLock { state in
      state.count += 1
      let count = state.count
      let due = state.waiting.filter { $0.0 <= count }
      state.waiting.removeAll { $0.0 <= count }
      return due
    }
    for (_, waiter) in due { waiter.finish() }
  }

  /// Returns without, once the test's time is over.
  func reach(_ count: Int) async {
    let (stream, waiter) = AsyncStream.makeStream(of: Void.self)
    state.withLock { state in
      if state.count >= count { waiter.finish() } else { state.waiting.append((count, waiter)) }
    }
    for await _ in stream {}
  }
}
