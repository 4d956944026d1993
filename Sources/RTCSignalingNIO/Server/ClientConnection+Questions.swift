import NIOCore
import RTCPrimitives
import RTCSignaling

/// Requests that are neither for pages nor for sessions.
extension ClientConnection {
  // MARK: Still pictures

  /// A link for one stream lists this stream alone.
  func list(_ request: RequestRouter.StillRequest, _ exchange: Exchange) {
    let sessions = registry.sessions
    let only = request.grant.link?.stream
    ask(exchange) {
      let streams = await sessions.listing().filter { only == nil || $0.name == only }
      return .reply(.listing(streams, known: request.known))
    }
  }

  func show(_ stream: String, width: Int, _ request: RequestRouter.StillRequest, _ exchange: Exchange) {
    let sessions = registry.sessions
    if let place = sessions.place(of: stream) {
      return answer(.elsewhere(place, path: "snapshot/", query: "?width=\(width)"), exchange)
    }
    show(stream, to: request.grant, client: request.client, exchange) {
      let picture = await sessions.picture(of: stream, width: width)
      return .still(picture, known: request.known, lack: "There is no picture of this stream now.")
    }
  }

  /// Shows a picture of a stream, or of the cast. It shows the content of a session: for a link with limited uses it is one
  /// use, of the client that connects next.
  func show(
    _ stream: String?, to grant: AccessGrant, client: String?, _ exchange: Exchange,
    _ picture: @escaping @Sendable () async -> HTTPReply
  ) {
    let (gate, remote) = (registry.gate, remote)
    ask(exchange) {
      do throws(AccessRefusal) {
        if let use = try await gate.count(grant, client: client, now: .now) { gate.keep(use, now: .now) }
      } catch {
        return .refused(error, AuditEvent(error, right: .watch, by: grant.credential, from: remote, name: stream))
      }
      return .shown(await picture(), of: stream, by: grant, to: remote)
    }
  }

  func pick(_ resource: PickResource, known: [String], text: String?, _ exchange: Exchange) {
    guard let picker = registry.picker else { return answer(.noAnswer, exchange) }
    switch resource {
    case .state: ask(exchange) { .reply(.json(await picker.state(), known: known)) }
    case .picture(let id):
      ask(exchange) {
        .reply(.still(await picker.thumbnail(of: id), known: known, lack: "This source is not shown now."))
      }
    case .choice:
      guard let text, PickResource.isIdentifier(text) else {
        return answer(HTTPReply(status: 400, sentence: "The body must be the identifier of a source."), exchange)
      }
      ask(exchange) { .reply(.picked(refusal: await picker.pick(text))) }
    }
  }

  // MARK: Ports of clients

  /// Something is sent to the client's own address: `ReachProbe`. Where the address may be a proxy's, nothing is.
  func reach(_ request: ReachRequest, _ exchange: Exchange) {
    guard exchange.isFromClient, let address = IPAddress(remote.prefix { $0 != "%" })?.unmapped, !address.isLoopback,
      !registry.isTrustedProxy(remote), let loop = context?.eventLoop
    else { return answer(.unknownClient, exchange) }
    guard registry.beginReach(ClientNetwork(address)) else { return answer(.reachedTooOften, exchange) }
    let registry = NIOLoopBound(registry, eventLoop: loop)
    ask(exchange) {
      let reply = await ReachProbe(address: address, request: request, eventLoop: loop).run()
      loop.execute { registry.value.endReach() }
      return .reply(.reached(reply))
    }
  }
}
