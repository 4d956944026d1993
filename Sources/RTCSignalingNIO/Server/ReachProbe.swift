import NIOCore
import NIOPosix
import RTCPrimitives
import RTCSignaling

/// Sends what a client has asked for (`ReachRequest`) to the client's own address.
struct ReachProbe: Sendable {
  /// The address of the client.
  let address: IPAddress
  let request: ReachRequest
  let eventLoop: any EventLoop

  /// Datagrams get lost: three, so many milliseconds apart.
  private static let copies = 3
  private static let interval: Int64 = 200
  private static let connectTimeout = TimeAmount.seconds(3)

  /// Returns when all has been sent and the connection has come about or failed, after 3 s at most.
  func run() async -> ReachReply {
    async let isOpen = connects()
    await sendDatagrams()
    return ReachReply(address: address.description, isTCPOpen: await isOpen)
  }

  private func connects() async -> Bool? {
    guard let port = request.tcp, let target = target(port) else { return nil }
    let bootstrap = ClientBootstrap(group: eventLoop).connectTimeout(Self.connectTimeout)
    guard let channel = try? await bootstrap.connect(to: target).get() else { return false }
    channel.close(promise: nil)
    return true
  }

  /// The port is new, so that a firewall which admits replies only drops the datagrams.
  private func sendDatagrams() async {
    guard let port = request.udp, let target = target(port) else { return }
    let any = address.isV4 ? "0.0.0.0" : "::"
    guard let channel = try? await DatagramBootstrap(group: eventLoop).bind(host: any, port: 0).get() else { return }
    for copy in 0..<Self.copies {
      if copy > 0 { try? await Task.sleep(for: .milliseconds(Self.interval)) }
      let datagram = AddressedEnvelope(remoteAddress: target, data: ByteBuffer(bytes: request.datagram))
      try? await channel.writeAndFlush(datagram).get()
    }
    channel.close(promise: nil)
  }

  private func target(_ port: UInt16) -> NIOCore.SocketAddress? {
    try? NIOCore.SocketAddress(ipAddress: address.description, port: Int(port))
  }
}
