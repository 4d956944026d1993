import CUsrsctp
package import RTCPrimitives

/// An SCTP association by usrsctp, which is what Firefox has: a second opinion for tests. Its time is an argument.
package final class UsrsctpPeer {
  /// The options of the peer; sizes are in bytes.
  package struct Options {
    package var seed: UInt64 = 1
    package var streams: UInt16 = 1_024
    package var packetSize = 1_160
    package var sendBuffer = 512 * 1024
    package var receiveBuffer = 1 << 20

    package init() {}
  }

  /// How hard it tries to deliver a message.
  package enum Policy {
    case reliable
    case retransmissions(UInt32)
    case lifetime(UInt32)
  }

  /// An event of the peer.
  package enum Event {
    /// A piece of a message.
    case data(stream: UInt16, protocol: UInt32, bytes: [UInt8], isLast: Bool)
    case connected(streams: Int)
    case restarted
    case lost
    case shutDown
    case reset(streams: [UInt16], isIncoming: Bool, isOutgoing: Bool, failed: Bool)
    case other
  }

  /// Sent packets; emptied by the owner.
  package var packets: [[UInt8]] = []
  private var instance: OpaquePointer?
  private var scratch = [UInt8](repeating: 0, count: 64 * 1024)

  /// Nil when the process is not linked with usrsctp's shared library.
  package init?(_ options: Options = Options(), now: Timestamp) {
    var raw = cusrsctp_options(
      seed: options.seed, local_port: 5000, remote_port: 5000, streams: options.streams,
      packet_size: UInt32(options.packetSize), send_buffer: UInt32(options.sendBuffer),
      receive_buffer: UInt32(options.receiveBuffer), receive_chunks: 4096,
      initial_rto: 500, least_rto: 200, most_rto: 10_000, retransmissions: 10)
    // The pointer to self is used only inside calls made through `self`, and by none after `destroy`.
    instance = cusrsctp_create(&raw, Unmanaged.passUnretained(self).toOpaque(), sendPacket, now.microseconds)
    if instance == nil { return nil }
  }

  deinit { if let instance { cusrsctp_destroy(instance) } }

  package func connect(now: Timestamp) -> Bool { cusrsctp_connect(instance, now.microseconds) == 0 }

  /// Runs its timers up to `now`.
  package func advance(now: Timestamp) { cusrsctp_advance(instance, now.microseconds) }

  package func handle(_ packet: Span<UInt8>, now: Timestamp) {
    packet.withUnsafeBytes { cusrsctp_input(instance, $0.baseAddress, $0.count, now.microseconds) }
  }

  /// False when there is no room now.
  package func send(
    _ bytes: [UInt8], stream: UInt16, protocol: UInt32, isOrdered: Bool = true, policy: Policy = .reliable,
    now: Timestamp
  ) -> Bool {
    let (kind, limit): (Int, UInt32) =
      switch policy {
      case .reliable: (CUSRSCTP_RELIABLE, 0)
      case .retransmissions(let count): (CUSRSCTP_RETRANSMISSIONS, count)
      case .lifetime(let milliseconds): (CUSRSCTP_LIFETIME, milliseconds)
      }
    return bytes.withUnsafeBytes {
      cusrsctp_send(
        instance, $0.baseAddress, $0.count, stream, `protocol`, isOrdered ? 0 : 1, CInt(kind), limit,
        now.microseconds)
    } == 0
  }

  package func resetOutgoing(_ streams: [UInt16], now: Timestamp) -> Bool {
    cusrsctp_reset_streams(instance, streams, streams.count, now.microseconds) == 0
  }

  package func abort(now: Timestamp) { cusrsctp_abort(instance, now.microseconds) }

  /// The next event; nil without one.
  package func nextEvent(now: Timestamp) -> Event? {
    var raw = cusrsctp_received()
    let count = scratch.withUnsafeMutableBytes {
      cusrsctp_receive(instance, $0.baseAddress, $0.count, &raw, now.microseconds)
    }
    switch Int(raw.kind) {
    case CUSRSCTP_NOTHING: return nil
    case CUSRSCTP_DATA:
      return .data(
        stream: raw.stream, protocol: raw.protocol, bytes: Array(scratch[..<count]), isLast: raw.is_last != 0)
    case CUSRSCTP_UP: return .connected(streams: Int(raw.stream))
    case CUSRSCTP_RESTART: return .restarted
    case CUSRSCTP_LOST: return .lost
    case CUSRSCTP_SHUT: return .shutDown
    case CUSRSCTP_RESET:
      let flags = Int(raw.reset_flags)
      let streams = stride(from: 0, to: count - 1, by: 2).map { UInt16(scratch[$0]) | UInt16(scratch[$0 + 1]) << 8 }
      return .reset(
        streams: streams, isIncoming: flags & CUSRSCTP_RESET_INCOMING != 0,
        isOutgoing: flags & CUSRSCTP_RESET_OUTGOING != 0,
        failed: flags & (CUSRSCTP_RESET_DENIED | CUSRSCTP_RESET_FAILED) != 0)
    default: return .other
    }
  }
}

/// Called by usrsctp inside the calls above, on the same thread.
private func sendPacket(_ owner: UnsafeMutableRawPointer?, _ packet: UnsafeRawPointer?, _ count: Int) {
  guard let owner else { return }
  let peer = Unmanaged<UsrsctpPeer>.fromOpaque(owner).takeUnretainedValue()
  peer.packets.append([UInt8](UnsafeRawBufferPointer(start: packet, count: count)))
}
