import RTCICE
package import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO

/// Has a hub elsewhere try whether a port of this machine is reached: `rtcast doctor --ice --from URL`.
struct OutsideCheck {
  private let hub: HubAddress
  private let token: String?
  private let port: UInt16

  /// Datagrams that are under way arrive within this time after the hub's answer.
  private static let patience = Duration.seconds(1)

  /// - Parameter port: the port to try, by UDP and by TCP; 0 for any that is free.
  init(_ url: String, token: String?, port: UInt16) throws(CastFailure) {
    guard let hub = HubAddress(url) else {
      throw CastFailure(.usage, "--from takes a hub's address, such as https://hub.example, not '\(url)'.")
    }
    (self.hub, self.token, self.port) = (hub, token, port)
  }

  func run() async throws(CastFailure) -> OutsideFinding {
    let listener: ReachListener
    do throws(ReachListenerError) { listener = try await ReachListener.start(port: port) } catch {
      throw CastFailure(
        .unavailable,
        error.port == 0
          ? "No port is free for UDP and TCP."
          : "Port \(error.port) is taken by another program, perhaps a running cast. End it, or choose another port with "
            + "--udp-port.")
    }
    let result = await ask(listener)
    await listener.stop()
    return try result.get()
  }

  private func ask(_ listener: ReachListener) async -> Result<OutsideFinding, CastFailure> {
    guard
      let request = ReachRequest(
        udp: listener.port, tcp: listener.port, key: SignedLink.freshID() + SignedLink.freshID()),
      let address = hub.web.resolving(request.reference)
    else { return .failure(CastFailure(.usage, "--from takes a hub's address, such as https://hub.example.")) }
    let client = WHIPClient()
    let answer: Result<WHIPResponse, WHIPError>
    do throws(WHIPError) {
      let post = WHIPRequest(id: 0, .post, address, authorization: token.map { "Bearer \($0)" }, body: "")
      answer = .success(try await client.send(post))
    } catch { answer = .failure(error) }
    await client.shutdown()
    switch answer {
    case .failure(let error): return .failure(CastFailure(.unavailable, error.description))
    case .success(let response):
      guard response.status == 200, let reply = ReachReply(parsing: response.body) else {
        return .failure(refusal(response))
      }
      return .success(
        OutsideFinding(
          hub: hub.web.host.text, port: listener.port, address: reply.address,
          isUDPOpen: await listener.receives(request, within: Self.patience), isTCPOpen: reply.isTCPOpen ?? false))
    }
  }

  private func refusal(_ response: WHIPResponse) -> CastFailure {
    let name = hub.web.host.text
    let said = response.body.foreignText().trimmingBlanks()
    return switch response.status {
    case 401, 403: CastFailure(.notPermitted, "\(name) does not let this machine ask: \(said)")
    case 404, 405:
      CastFailure(.unavailable, "\(name) cannot try ports: it is no hub of rtcast, or one of an older version.")
    case 409, 429: CastFailure(.unavailable, "\(name): \(said)")
    default: CastFailure(.protocolError, "\(name) answered \(response.status) when asked to try a port: \(said)")
    }
  }
}

/// The answer of a hub that has tried a port of this machine.
package struct OutsideFinding: Sendable {
  /// The hub's name.
  package var hub: String
  package var port: UInt16
  /// This machine's address as the hub sees it.
  package var address: String
  package var isUDPOpen: Bool
  package var isTCPOpen: Bool

  package init(hub: String, port: UInt16, address: String, isUDPOpen: Bool, isTCPOpen: Bool) {
    self.hub = hub
    self.port = port
    self.address = address
    self.isUDPOpen = isUDPOpen
    self.isTCPOpen = isTCPOpen
  }

  /// One for each transport. A closed port is no failure: most viewers are reached by packets from here.
  /// - Parameter ownAddresses: this machine's addresses that peers are offered.
  package func checks(ownAddresses: [IPAddress]) -> [Check] {
    [check("UDP", isUDPOpen, ownAddresses), check("TCP", isTCPOpen, ownAddresses)]
  }

  private func check(_ transport: String, _ isOpen: Bool, _ ownAddresses: [IPAddress]) -> Check {
    let ip = IPAddress(address)
    let place = ip.map { SocketAddress(ip: $0, port: port).description } ?? address
    var check = Check(
      name: "\(transport) \(port)", verdict: isOpen ? .works : .lacks,
      finding: isOpen ? "reached at \(place)" : "not reached at \(place)",
      advice: isOpen ? nil : advice(transport, isOwn: ip.map { ownAddresses.contains($0) } ?? false))
    if ip?.isPrivate ?? false { check.finding += "; the hub is in the same private network" }
    check.details = [
      ("from", .string(hub)), ("transport", .string(transport.lowercased())), ("port", .count(port)),
      ("address", .string(address)), ("reached", .bool(isOpen)),
    ]
    return check
  }

  private func advice(_ transport: String, isOwn: Bool) -> String {
    let letIn = "et \(transport) port \(port) in at the firewall of this machine"
    if isOwn { return "L\(letIn). Otherwise some viewers need a TURN server." }
    return "Forward \(transport) port \(port) at the router to this machine, or cast with --map-port; and l\(letIn). "
      + "Otherwise some viewers need a TURN server."
  }
}
