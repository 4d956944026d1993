import NIOCore
import NIOHTTP1
import NIOPosix
package import RTCSignaling

/// Publishes to WHIP servers (RFC 9725), each request on a connection of its own. Call `shutdown()` before the last
/// reference goes.
package final class WHIPClient: Sendable {
  /// How requests are made.
  package struct Configuration: Sendable {
    /// Seconds for one request with its answer, from the host's name to the last byte; each redirect anew.
    package var timeout: Int64 = 10
    /// Bytes of an answer's body.
    package var bodyLimit = 262_144
    /// A PEM file with the certificates to trust; nil for those the system trusts.
    package var trustRootsFile: String?

    /// The defaults: 10 s for a request, bodies of up to 256 KiB, and the certificates that the system trusts.
    package init() {}
  }

  /// What became of a trickled fragment.
  package enum TrickleResult: Sendable, Equatable {
    case taken
    /// The server does without; send no more.
    case unsupported
    /// ICE restarted: the server's fragment and the new entity tag.
    case restarted(fragment: String, etag: String?)
  }

  private let configuration: Configuration
  private let group: MultiThreadedEventLoopGroup

  /// A client with a thread of its own, which `shutdown()` ends.
  package init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  }

  /// Sends the offer and returns what the server made of it, redirects followed.
  package func publish(
    to endpoint: String, token: String?, offer: String
  ) async throws(WHIPError) -> WHIPPublication {
    var exchange = try WHIPExchange(endpoint: endpoint, token: token)
    while true {
      let response = try await send(
        .POST, to: exchange.target, authorization: exchange.authorization, type: "application/sdp", body: offer)
      let step = try exchange.receive(
        status: response.status, header: { response.headers[canonicalForm: $0].map(String.init) }, body: response.body)
      if case .published(let publication) = step { return publication }
    }
  }

  /// Sends candidates, or an ICE restart, as a `trickle-ice-sdpfrag` (RFC 8840).
  package func trickle(
    _ fragment: String, to publication: WHIPPublication
  ) async throws(WHIPError) -> TrickleResult {
    let response = try await send(
      .PATCH, to: publication.resource, authorization: publication.authorization,
      type: "application/trickle-ice-sdpfrag", body: fragment, etag: publication.etag)
    switch response.status {
    case 200 where !response.body.isEmpty:
      return .restarted(fragment: response.body, etag: response.headers.first(name: "ETag"))
    case 200...299: return .taken
    case 405, 415, 501: return .unsupported
    case let status:
      throw WHIPExchange.error(
        status: status, method: "PATCH", body: response.body, hadToken: publication.authorization != nil)
    }
  }

  /// Ends a publication. One that the server has forgotten counts as ended.
  package func delete(_ publication: WHIPPublication) async throws(WHIPError) {
    let response = try await send(.DELETE, to: publication.resource, authorization: publication.authorization)
    switch response.status {
    case 200...299, 404, 410: return
    case let status:
      throw WHIPExchange.error(
        status: status, method: "DELETE", body: response.body, hadToken: publication.authorization != nil)
    }
  }

  /// Ends the client's thread and whatever request still runs; the client cannot be used afterwards.
  package func shutdown() async {
    try? await group.shutdownGracefully()
  }

  // MARK: One request

  private struct Response: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: String
  }

  private func send(
    _ method: HTTPMethod, to address: WebAddress, authorization: String?, type: String? = nil, body: String? = nil,
    etag: String? = nil
  ) async throws(WHIPError) -> Response {
    var exchange = HTTPExchange(address)
    exchange.method = method
    if let type { exchange.headers.add(name: "Content-Type", value: type) }
    if let authorization { exchange.headers.add(name: "Authorization", value: authorization) }
    if let etag { exchange.headers.add(name: "If-Match", value: etag) }
    exchange.body = body.map { ByteBuffer(string: $0) }
    exchange.timeout = .seconds(configuration.timeout)
    exchange.bodyLimit = configuration.bodyLimit
    exchange.trustRootsFile = configuration.trustRootsFile
    do {
      let answer = try await exchange.perform(on: group.next())
      return Response(status: answer.status, headers: answer.headers, body: String(buffer: answer.body))
    } catch {
      throw ClientFailure.explain(error, at: address, configuration)
    }
  }
}
