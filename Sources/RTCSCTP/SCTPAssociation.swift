import CUsrsctp
import RTCPrimitives

/// Why an association could not be made.
package enum SCTPError: Error, Hashable, Sendable {
  /// The program is not linked with usrsctp's shared library (a static one cannot be kept apart from itself).
  case noSharedLibrary
  /// usrsctp refused, with this errno; out of memory mostly.
  case refused(Int32)
}

/// The owner of one usrsctp association: messages on streams, no channels and no policy. It has usrsctp's whole state for
/// itself, see `library.c`. Owned by one thread.
@safe final class SCTPAssociation {
  struct Options {
    var seed: UInt64
    var localPort: UInt16
    var remotePort: UInt16
    var streams: UInt16
    var packetSize: Int
    var sendBuffer: Int
    var receiveBuffer: Int
  }

  enum SendOutcome {
    case taken
    /// No room now.
    case full
    case refused
  }

  enum Incoming {
    /// A piece of a message; `count` bytes of `scratch`.
    case data(stream: StreamID, protocol: UInt32, count: Int, isLast: Bool)
    /// Connected; so many streams can be used both ways.
    case up(streams: Int)
    case restarted
    case lost
    case shut
    case reset(ResetReport)
    case other
  }

  struct ResetReport {
    enum Side { case incoming, outgoing }
    var sides: [Side]
    var failed: Bool
    /// Empty: all.
    var streams: [StreamID]
  }

  /// Chunks waiting in the receive buffer: each costs some 500 bytes beside its data.
  private static let receiveChunks: UInt32 = 4096
  private static let scratchSize = 64 * 1024

  var packets = SCTPPackets()
  private(set) var scratch: [UInt8]
  private let instance: InstanceBox

  /// Frees what usrsctp holds; the callback's owner is set after the rest of the association stands.
  @safe private final class InstanceBox {
    var pointer: OpaquePointer?
    deinit { if let pointer = unsafe pointer { unsafe cusrsctp_destroy(pointer) } }
  }

  init(_ options: Options, now: Timestamp) throws(SCTPError) {
    scratch = [UInt8](repeating: 0, count: Self.scratchSize)
    instance = InstanceBox()
    var raw = cusrsctp_options(
      seed: options.seed, local_port: options.localPort, remote_port: options.remotePort, streams: options.streams,
      packet_size: UInt32(options.packetSize), send_buffer: UInt32(options.sendBuffer),
      receive_buffer: UInt32(options.receiveBuffer), receive_chunks: Self.receiveChunks,
      initial_rto: 500, least_rto: 200, most_rto: 10_000, retransmissions: 10)
    // The pointer to self is used only inside calls made through `self`, and by none after `destroy`.
    let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe instance.pointer = cusrsctp_create(&raw, owner, sendPacket, now.microseconds)
    if unsafe instance.pointer == nil {
      let code = cusrsctp_errno()
      throw code == cusrsctp_enotsup() ? .noSharedLibrary : .refused(code)
    }
  }

  func connect(now: Timestamp) -> Bool { unsafe cusrsctp_connect(instance.pointer, now.microseconds) == 0 }

  /// Runs the timers up to `now`.
  func advance(now: Timestamp) { unsafe cusrsctp_advance(instance.pointer, now.microseconds) }

  func input(_ packet: Span<UInt8>, now: Timestamp) {
    // usrsctp copies the packet before it returns.
    unsafe packet.withUnsafeBytes {
      unsafe cusrsctp_input(instance.pointer, $0.baseAddress, $0.count, now.microseconds)
    }
  }

  func send(
    _ bytes: [UInt8], stream: StreamID, protocol: UInt32, isOrdered: Bool, policy: Int, limit: UInt32, now: Timestamp
  ) -> SendOutcome {
    // usrsctp copies the message before it returns.
    let code = unsafe bytes.withUnsafeBytes {
      unsafe cusrsctp_send(
        instance.pointer, $0.baseAddress, $0.count, stream.value, `protocol`, isOrdered ? 0 : 1, CInt(policy), limit,
        now.microseconds)
    }
    return code == 0 ? .taken : code == CInt(CUSRSCTP_LATER) ? .full : .refused
  }

  func resetOutgoing(_ streams: [StreamID], now: Timestamp) -> SendOutcome {
    let numbers = streams.map(\.value)
    let code = unsafe cusrsctp_reset_streams(instance.pointer, numbers, numbers.count, now.microseconds)
    return code == 0 ? .taken : code == CInt(CUSRSCTP_LATER) ? .full : .refused
  }

  /// Tells the peer, and takes nothing more in.
  func abort(now: Timestamp) { unsafe cusrsctp_abort(instance.pointer, now.microseconds) }

  /// Whether something sent waits for an answer, or something taken waits to be sent.
  func isBusy(now: Timestamp) -> Bool { unsafe cusrsctp_outstanding(instance.pointer, now.microseconds) > 0 }

  /// What has come, piece by piece; nil when there is nothing more.
  func receive(now: Timestamp) -> Incoming? {
    var raw = cusrsctp_received()
    let count = unsafe scratch.withUnsafeMutableBytes {
      unsafe cusrsctp_receive(instance.pointer, $0.baseAddress, $0.count, &raw, now.microseconds)
    }
    switch Int(raw.kind) {
    case CUSRSCTP_NOTHING: return nil
    case CUSRSCTP_DATA:
      return .data(stream: StreamID(raw.stream), protocol: raw.protocol, count: count, isLast: raw.is_last != 0)
    case CUSRSCTP_UP: return .up(streams: Int(raw.stream))
    case CUSRSCTP_RESTART: return .restarted
    case CUSRSCTP_LOST: return .lost
    case CUSRSCTP_SHUT: return .shut
    case CUSRSCTP_RESET: return .reset(resetReport(flags: Int(raw.reset_flags), byteCount: count))
    default: return .other
    }
  }

  private func resetReport(flags: Int, byteCount: Int) -> ResetReport {
    var sides: [ResetReport.Side] = []
    if flags & CUSRSCTP_RESET_INCOMING != 0 { sides.append(.incoming) }
    if flags & CUSRSCTP_RESET_OUTGOING != 0 { sides.append(.outgoing) }
    let failures = CUSRSCTP_RESET_DENIED | CUSRSCTP_RESET_FAILED
    let streams = stride(from: 0, to: byteCount - 1, by: 2).map { i in
      StreamID(UInt16(scratch[i]) | UInt16(scratch[i + 1]) << 8)  // hosts of ours are little-endian
    }
    return ResetReport(sides: sides, failed: flags & failures != 0, streams: streams)
  }
}

/// Called by usrsctp inside the calls above, on the same thread.
private func sendPacket(_ owner: UnsafeMutableRawPointer?, _ packet: UnsafeRawPointer?, _ count: Int) {
  guard let owner = unsafe owner else { return }
  let association = unsafe Unmanaged<SCTPAssociation>.fromOpaque(owner).takeUnretainedValue()
  unsafe association.packets.append(UnsafeRawBufferPointer(start: packet, count: count))
}
