import CLinux
import RTCPrimitives

/// Fixed memory for one batch of incoming datagrams, allocated once.
@safe
struct ReceiveSlots: ~Copyable {
  static let count = 64
  /// No media packet, STUN message or DTLS record on a real path is longer.
  static let slotSize = 2048

  // The blocks hold `count` initialised elements (bytes: count × slotSize) each from init to deinit.
  private let headers: UnsafeMutablePointer<clinux_header>
  private let messages: UnsafeMutablePointer<clinux_message>
  private let bytes: UnsafeMutablePointer<UInt8>

  init() {
    unsafe headers = .allocate(capacity: Self.count)
    unsafe messages = .allocate(capacity: Self.count)
    unsafe bytes = .allocate(capacity: Self.count * Self.slotSize)
    unsafe headers.initialize(repeating: clinux_header(), count: Self.count)
    unsafe messages.initialize(repeating: clinux_message(), count: Self.count)
    unsafe bytes.initialize(repeating: 0, count: Self.count * Self.slotSize)
    for i in 0..<Self.count {
      unsafe clinux_message_prepare(headers + i, messages + i)
      rearm(i)
    }
  }

  deinit {
    unsafe headers.deallocate()
    unsafe messages.deallocate()
    unsafe bytes.deallocate()
  }

  /// Fills slots 0..<result with waiting datagrams, or returns the negated errno.
  func receive(on descriptor: Int32) -> Int {
    Int(unsafe clinux_batch_receive(descriptor, headers, UInt32(Self.count)))
  }

  /// Lends the datagram in slot `index` to `body` and frees the slot again.
  /// - Returns: the datagram's length, or nil when it was empty or too long and `body` was not called.
  mutating func take(
    _ index: Int, port: UInt16, drops: inout UInt32, _ body: (inout MutableSpan<UInt8>, Route) -> Void
  ) -> Int? {
    precondition(index < Self.count)
    defer { rearm(index) }
    var local = clinux_address()
    var remote = clinux_address()
    let length = Int(unsafe clinux_message_read(headers + index, &local, &remote, &drops))
    guard length > 0 else { return nil }
    local.port = port
    let slot = unsafe UnsafeMutableBufferPointer(start: bytes + index * Self.slotSize, count: length)
    var span = unsafe slot.mutableSpan
    body(&span, Route(local: local.socketAddress, remote: remote.socketAddress))
    return length
  }

  private func rearm(_ i: Int) {
    unsafe clinux_message_rearm(headers + i, messages + i, bytes + i * Self.slotSize, Self.slotSize)
  }
}
