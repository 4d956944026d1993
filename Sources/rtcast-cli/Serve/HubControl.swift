import RTCSignaling
import RTCSignalingNIO
import RTCast

/// The commands of `--control`, as the hub carries them out.
struct HubControl: Sendable {
  private let server: SignalingServer
  private let links: ServerLinks
  private let streams: StreamDirectory
  private let status = ControlStatus(of: .hub)

  init(_ server: SignalingServer, _ links: ServerLinks, _ streams: StreamDirectory) {
    self.server = server
    self.links = links
    self.streams = streams
  }

  /// Carries out a command, and answers it.
  /// - Returns: whether the hub is to stop.
  func perform(_ request: ControlRequest) async -> Bool {
    do throws(ControlError) {
      let command = try request.command.get()
      try command.check(in: .hub)
      switch command {
      case .status:
        request.answer(ControlReply(await statusEvent()))
        return false
      case .revoke(let link):
        do throws(RevocationError) { try server.revoke(link) } catch { throw ControlError(error.description) }
      default: break
      }
      request.answer(ControlReply(.success(command)))
      return command == .stop
    } catch {
      request.answer(ControlReply(.failure(error)))
      return false
    }
  }

  private func statusEvent() async -> OutputEvent {
    let counters = await server.hubCounters() ?? HubCounters()
    return status.event([
      ("urls", .array(links.urls.map { .string($0) })), ("peers", .count(counters.peers)),
      ("rooms", .count(counters.rooms)), ("connections", .count(counters.connections)),
      ("streams", .array(streams.names.map { .string($0) })),
    ])
  }
}
