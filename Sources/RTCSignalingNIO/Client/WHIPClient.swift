import NIOCore
import NIOHTTP1
import NIOPosix
package import RTCSignaling

/// Sends the requests of a `WHIPSession` (RFC 9725), each on a connection of its own. Call `shutdown()` before
/// releasing it.
package final class WHIPClient: Sendable {
  /// How requests are made.
  package struct Configuration: Sendable {
    /// Time limit in seconds for an offer with its answer, from resolving the name to the last byte; for each redirect
    /// again.
    package var timeout: Int64 = 10
    /// Time limit in seconds for every other request, whose content is soon outdated.
    package var amendTimeout: Int64 = 5
    /// Bytes of an answer's body.
    package var bodyLimit = 262_144
    /// A PEM file with the certificates to trust; nil for those the system trusts.
    package var trustRootsFile: String?

    /// The defaults: 10 s for a request, bodies of up to 256 KiB, and the certificates that the system trusts.
    package init() {}
  }

  private let configuration: Configuration
  private let group: MultiThreadedEventLoopGroup
  /// Chosen at random.
  private let name = SignedLink.freshID() + SignedLink.freshID()

  /// Makes a client with a thread of its own, which `shutdown()` ends.
  package init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  }

  /// Sends a request and returns the response, with any status; follows no redirects.
  package func send(_ request: WHIPRequest) async throws(WHIPError) -> WHIPResponse {
    var exchange = HTTPExchange(request.target)
    exchange.method = HTTPMethod(rawValue: request.method.rawValue)
    if let type = request.contentType { exchange.headers.add(name: "Content-Type", value: type) }
    if let authorization = request.authorization {
      exchange.headers.add(name: "Authorization", value: authorization)
      // An rtcast that counts the uses of a link knows by it who comes back.
      exchange.headers.add(name: "RTCast-Client", value: name)
    }
    if let tag = request.ifMatch { exchange.headers.add(name: "If-Match", value: tag) }
    exchange.body = request.body.map { ByteBuffer(string: $0) }
    exchange.timeout = .seconds(request.method == .post ? configuration.timeout : configuration.amendTimeout)
    exchange.bodyLimit = configuration.bodyLimit
    exchange.trustRootsFile = configuration.trustRootsFile
    do {
      let answer = try await exchange.perform(on: group.next())
      return WHIPResponse(
        status: answer.status, headers: answer.headers.map { HTTPHeader(name: $0.name, value: $0.value) },
        body: String(buffer: answer.body))
    } catch {
      throw ClientFailure.explain(error, at: request.target, configuration)
    }
  }

  /// Ends the client's thread and all pending requests; the client cannot be used afterwards.
  package func shutdown() async {
    try? await group.shutdownGracefully()
  }
}
