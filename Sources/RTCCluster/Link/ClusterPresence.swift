import NIOCore
import NIOPosix
package import RTCSignaling

/// A presence, used and revoked links, and published streams that several hubs share by Redis. Runs on an event loop of its own. Any thread.
package final class ClusterPresence: Presence, SharedAccess, SharedStreams {
  package struct Options: Sendable {
    package var address: RedisAddress
    /// The prefix of all keys and channels: hubs with different prefixes know nothing of each other.
    package var prefix = "rtcast"
    /// Members of one room.
    package var roomMembers = HubLimits().roomMembers
    /// Takes news about the connection, on the event loop; must not wait.
    package var onNotice: @Sendable (ClusterNotice) -> Void = { _ in }

    package init(_ address: RedisAddress) { self.address = address }
  }

  private let group: MultiThreadedEventLoopGroup
  private let eventLoop: any EventLoop
  private let link: NIOLoopBound<ClusterLink>

  /// Connects, and reads the state. Call `close()` before the last reference goes.
  package static func start(_ options: Options) async throws(RedisFailure) -> ClusterPresence {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let (loop, prefix) = (group.next(), "{\(options.prefix)}")
    let machine = ClusterMachine(hub: freshID(), prefix: prefix, roomMembers: options.roomMembers)
    let outcome = try? await loop.flatSubmit {
      let link = ClusterLink(options.address, machine, prefix: prefix, eventLoop: loop, onNotice: options.onNotice)
      let promise = loop.makePromise(of: Result<NIOLoopBound<ClusterLink>, RedisFailure>.self)
      let bound = NIOLoopBound(link, eventLoop: loop)
      link.start { failure in promise.succeed(failure.map { .failure($0) } ?? .success(bound)) }
      return promise.futureResult
    }.get()
    switch outcome {
    case .success(let link)?: return ClusterPresence(group, link)
    case .failure(let failure)?:
      try? await group.shutdownGracefully()
      throw failure
    case nil: throw .closed  // the loop ends after the attempt only
    }
  }

  private init(_ group: MultiThreadedEventLoopGroup, _ link: NIOLoopBound<ClusterLink>) {
    (self.group, self.link, eventLoop) = (group, link, group.next())
  }

  package func start(report: @escaping @Sendable (PresenceEvent) -> Void) {
    eventLoop.execute { [link] in link.value.listen(report) }
  }

  package func claim(_ claim: PresenceClaim) -> PresenceAnswer? {
    eventLoop.execute { [link] in link.value.handle(.claim(claim)) }
    return nil
  }

  package func release(_ subject: PresenceClaim.Subject) {
    eventLoop.execute { [link] in link.value.handle(.release(subject)) }
  }

  package func pass(_ message: PresenceMessage) {
    eventLoop.execute { [link] in link.value.handle(.pass(message)) }
  }

  package var keepsMessages: Bool { true }

  package func collectMessages(for name: String) {
    eventLoop.execute { [link] in link.value.handle(.collect(name)) }
  }

  package func noteAbsence(of name: String) {
    eventLoop.execute { [link] in link.value.handle(.away(name)) }
  }

  package func confirm(_ number: Int64, for name: String) {
    eventLoop.execute { [link] in link.value.handle(.delivered(name, number)) }
  }

  package func use(_ signed: SignedLink, client: String?) async -> LinkUseAnswer {
    await withCheckedContinuation { continuation in
      eventLoop.execute { [link] in link.value.use(signed, client: client) { continuation.resume(returning: $0) } }
    }
  }

  package func giveBack(_ use: LinkUse) {
    eventLoop.execute { [link] in link.value.handle(.giveBack(use)) }
  }

  package func revoke(_ id: String, expires: Int64?) {
    eventLoop.execute { [link] in link.value.handle(.revoke(id, expires: expires)) }
  }

  package func noteWrongTry(from address: String) {
    eventLoop.execute { [link] in link.value.handle(.wrongTry(address)) }
  }

  package func add(_ ledger: LinkLedger) {
    eventLoop.execute { [link] in link.value.handle(.addLinks(ledger)) }
  }

  /// Sets the URL at which clients reach this hub; it ends in a slash.
  package func announce(address: String) {
    eventLoop.execute { [link] in link.value.handle(.address(address)) }
  }

  package func claim(stream: String) async -> PresenceAnswer {
    await withCheckedContinuation { continuation in
      eventLoop.execute { [link] in link.value.publish(stream) { continuation.resume(returning: $0) } }
    }
  }

  package func release(stream: String) {
    eventLoop.execute { [link] in link.value.handle(.unpublish(stream)) }
  }

  package func followStreams(_ report: @escaping @Sendable ([String: String]) -> Void) {
    eventLoop.execute { [link] in link.value.followStreams(report) }
  }

  package func stop() { eventLoop.execute { [link] in link.value.stop {} } }

  /// Signs the hub off at Redis, for at most two seconds, and ends.
  package func close() async {
    let (loop, link) = (eventLoop, link)
    try? await loop.flatSubmit {
      let promise = loop.makePromise(of: Void.self)
      let limit = loop.scheduleTask(in: .seconds(2)) { promise.succeed(()) }
      link.value.stop { promise.succeed(()) }
      promise.futureResult.whenComplete { _ in limit.cancel() }
      return promise.futureResult
    }.get()
    try? await group.shutdownGracefully()
  }

  /// 64 random bits.
  private static func freshID() -> String {
    var generator = SystemRandomNumberGenerator()
    return String(UInt64.random(in: .min ... .max, using: &generator), radix: 36)
  }
}
