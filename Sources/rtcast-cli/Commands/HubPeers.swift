import Glibc
import RTCSignaling
import RTCSignalingNIO

/// Requests the list of peers at a hub once. The request needs a name, which other peers do not see.
enum HubPeers {
  /// - Parameters:
  ///   - hub: nil: `RTCAST_SERVER` says.
  ///   - name: nil: the hub chooses.
  static func list(at hub: LinkedHub?, as name: String?, token: TokenOptions) async throws(CastFailure) -> [String] {
    let found = try HubChoice.find(
      nil, option: hub, environment: getenv("RTCAST_SERVER").map { String(cString: $0) })
    var configuration = HubClient.Configuration()
    configuration.isListed = false
    let secret = try token.secret(link: found.token)
    let client = HubClient(address: found.address, token: secret?.text, configuration: configuration)
    let answer = await ask(client, as: name)
    await client.close()
    return try answer.get()
  }

  private static func ask(_ client: HubClient, as name: String?) async -> Result<[String], CastFailure> {
    do throws(HubClientError) { _ = try await client.connect(as: name) } catch { return .failure(CastFailure(error)) }
    client.list()
    for await event in client.events {
      switch event {
      case .present(let peers): return .success(peers)
      case .refused(let refusal):
        return .failure(CastFailure(.protocolError, "The hub does not list its peers: \(refusal.message)"))
      case .disconnected(let error, _), .ended(let error?): return .failure(CastFailure(error))
      case .registered, .iceServers, .signal, .candidate, .bye, .peers, .peerJoined, .peerLeft, .peerArrived, .peerGone,
        .ended(nil):
        continue
      }
    }
    return .failure(CastFailure(.unavailable, "The hub did not send the list of peers; try again."))
  }
}

extension CastFailure {
  init(_ error: HubClientError) {
    let status: ExitStatus =
      switch error.fault {
      case .caller: .usage
      case .network: .unavailable
      case .permission: .notPermitted
      case .server: .protocolError
      }
    self.init(status, error.description)
  }
}
