import Logging
import RTCNet
import RTCPeer
import RTCSignaling
import RTCSignalingNIO

/// The page of a server, at the address at which the router lets it be reached from outside (`--map-port`).
struct OutsidePage {
  private let mapper = PortMapper()

  /// Asks the router to forward the server's port.
  /// - Parameter onLink: gets the link from outside whenever it is another; on a thread of the mapper's.
  /// - Throws: if the system has no thread left.
  init(
    _ server: SignalingServer, _ secret: AccessToken?, _ logger: Logger, onLink: @escaping @Sendable (String) -> Void
  ) throws(CastFailure) {
    let isSecure = server.isSecure
    do throws(SystemError) {
      try mapper.start([WantedMapping(.tcp, server.address.port)]) { event in
        if let notice = event.notice(of: "page's port") { logger.warning("\(notice)") }
        guard let place = event.external else { return }
        let address = ListenAddress(host: HostName(place.ip.description), port: place.port)
        onLink(address.link(token: secret, isSecure: isSecure))
      }
    } catch {
      throw CastFailure(.unavailable, "The router cannot be asked to forward a port. \(error)")
    }
  }

  /// Ends the mapping.
  func close() { mapper.stop() }
}
