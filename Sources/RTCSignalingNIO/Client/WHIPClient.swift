import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
public import RTCSignaling

/// Publishes to WHIP servers (RFC 9725). Call `shutdown()` before the last reference goes.
public final class WHIPClient: Sendable {
  public struct Configuration: Sendable {
    /// Seconds for one request with its answer, each redirect anew.
    public var timeout: Int64 = 10
    /// Bytes of an answer's body.
    public var bodyLimit = 262_144
    /// A PEM file with the certificates to trust; nil for those the system trusts.
    public var trustRootsFile: String?

    public init() {}
  }

  /// What became of a trickled fragment.
  public enum TrickleResult: Sendable, Equatable {
    case taken
    /// The server does without; send no more.
    case unsupported
    /// ICE restarted: the server's fragment and the new entity tag.
    case restarted(fragment: String, etag: String?)
  }

  private let configuration: Configuration
  private let group: MultiThreadedEventLoopGroup
  private let http: HTTPClient

  public init(configuration: Configuration = Configuration()) {
    var tls = TLSConfiguration.makeClientConfiguration()
    if let file = configuration.trustRootsFile { tls.trustRoots = .file(file) }
    var settings = HTTPClient.Configuration(
      tlsConfiguration: tls, redirectConfiguration: .disallow,
      timeout: .init(connect: .seconds(configuration.timeout), read: .seconds(configuration.timeout)))
    settings.connectionPool.retryConnectionEstablishment = false
    settings.httpVersion = .http1Only
    self.configuration = configuration
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    http = HTTPClient(eventLoopGroup: group, configuration: settings)
  }

  /// Sends the offer and returns what the server made of it, redirects followed.
  public func publish(
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
  public func trickle(
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
  public func delete(_ publication: WHIPPublication) async throws(WHIPError) {
    let response = try await send(.DELETE, to: publication.resource, authorization: publication.authorization)
    switch response.status {
    case 200...299, 404, 410: return
    case let status:
      throw WHIPExchange.error(
        status: status, method: "DELETE", body: response.body, hadToken: publication.authorization != nil)
    }
  }

  public func shutdown() async {
    try? await http.shutdown()
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
    var request = HTTPClientRequest(url: address.description)
    request.method = method
    if let type { request.headers.add(name: "Content-Type", value: type) }
    if let authorization { request.headers.add(name: "Authorization", value: authorization) }
    if let etag { request.headers.add(name: "If-Match", value: etag) }
    if let body { request.body = .bytes(ByteBuffer(string: body)) }
    let (http, configuration, ready) = (http, configuration, request)
    let work = Task {
      let response = try await http.execute(ready, deadline: .now() + .seconds(configuration.timeout))
      let bytes = try await response.body.collect(upTo: configuration.bodyLimit)
      return Response(status: Int(response.status.code), headers: response.headers, body: String(buffer: bytes))
    }
    // The deadline ends with the head of the answer; a body that drips needs one too.
    let alarm = group.next().scheduleTask(in: .seconds(configuration.timeout)) { work.cancel() }
    defer { alarm.cancel() }
    let result = await withTaskCancellationHandler {
      await work.result
    } onCancel: {
      work.cancel()
    }
    do { return try result.get() } catch { throw ClientFailure.explain(error, at: address, configuration) }
  }
}
