import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO

/// The STUN and TURN servers that a hub or a WHIP or WHEP service names.
enum AdvertisedServers {
  /// - Parameter url: `wss://host` of a hub, `https://host/path` of a service.
  static func ask(_ url: String, token: String?) async throws(CastFailure) -> [ICEServer] {
    if url.hasPrefix("ws:") || url.hasPrefix("wss:"), let hub = HubAddress(url) {
      return try await ask(hub, token: token)
    }
    if url.hasPrefix("http:") || url.hasPrefix("https:"), let service = WebAddress(url) {
      return try await ask(service, token: token)
    }
    throw CastFailure(.usage, "--ice takes a hub's address, such as wss://host, or a service's URL, not '\(url)'.")
  }

  /// By `Link` headers, which RFC 9725 §4.6 has in the answer to OPTIONS too.
  private static func ask(_ service: WebAddress, token: String?) async throws(CastFailure) -> [ICEServer] {
    let client = WHIPClient()
    let request = WHIPRequest(id: 0, .options, service, authorization: token.map { "Bearer \($0)" })
    let answer: Result<WHIPResponse, WHIPError>
    do throws(WHIPError) { answer = .success(try await client.send(request)) } catch { answer = .failure(error) }
    await client.shutdown()
    switch answer {
    case .failure(let error): throw CastFailure(.unavailable, error.description)
    case .success(let response):
      guard (200...299).contains(response.status) else {
        throw CastFailure(
          .protocolError, "\(service) answered \(response.status) when asked for its STUN and TURN servers.")
      }
      let links = response.headers.filter { $0.name.lowercased() == "link" }.map(\.value)
      return ICEServer.parse(links: links)
    }
  }

  private static func ask(_ hub: HubAddress, token: String?) async throws(CastFailure) -> [ICEServer] {
    var configuration = HubClient.Configuration()
    configuration.isListed = false
    let client = HubClient(address: hub, token: token, configuration: configuration)
    let answer: Result<[ICEServer], CastFailure>
    do throws(HubClientError) { answer = .success(try await client.connect(as: nil).iceServers) } catch {
      answer = .failure(CastFailure(error))
    }
    await client.close()
    return try answer.get()
  }
}
