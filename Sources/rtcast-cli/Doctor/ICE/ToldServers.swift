import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO

/// The STUN and TURN servers that a hub or a WHIP or WHEP service names.
enum ToldServers {
  /// - Parameter url: `wss://host` of a hub, `https://host/path` of a service.
  static func ask(_ url: String, token: String?) async throws(CastFailure) -> [ICEServer] {
    if url.hasPrefix("ws:") || url.hasPrefix("wss:"), let hub = HubAddress(url) {
      return try await ask(hub, token: token)
    }
    throw CastFailure(.usage, "--ice takes a hub's address such as wss://host; not '\(url)'.")
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
