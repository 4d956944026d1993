import COpenSSL

/// The kind of OpenSSL I/O object through which a `DTLSSession` reads one datagram and writes many: unlike a memory BIO
/// it keeps datagrams apart, since OpenSSL gathers records up to the MTU and then writes each datagram with one call.
///
/// `@unchecked Sendable`: set up once, and never changed afterwards.
@safe struct DatagramBIO: @unchecked Sendable {
  private let method: OpaquePointer?

  private static let shared = DatagramBIO()

  private init() {
    unsafe method = BIO_meth_new(BIO_get_new_index() | CInt(BIO_TYPE_SOURCE_SINK), "datagrams")
    unsafe BIO_meth_set_create(method, create)
    unsafe BIO_meth_set_read(method, read)
    unsafe BIO_meth_set_write(method, write)
    unsafe BIO_meth_set_ctrl(method, control)
  }

  /// A new object at whose other end `session` is, for the caller to free. The session must outlive it.
  static func make(for session: DTLSSession) throws(OpenSSLError) -> OpaquePointer {
    guard let bio = unsafe BIO_new(shared.method) else { throw .take() }
    unsafe BIO_set_data(bio, Unmanaged.passUnretained(session).toOpaque())
    return unsafe bio
  }
}

private func session(_ bio: OpaquePointer?) -> DTLSSession {
  unsafe Unmanaged<DTLSSession>.fromOpaque(BIO_get_data(bio)).takeUnretainedValue()
}

private func create(_ bio: OpaquePointer?) -> CInt {
  unsafe BIO_set_init(bio, 1)
  return 1
}

private func read(_ bio: OpaquePointer?, _ to: UnsafeMutablePointer<CChar>?, _ capacity: CInt) -> CInt {
  let room = unsafe UnsafeMutableRawBufferPointer(start: to, count: Int(max(capacity, 0)))
  let count = unsafe session(bio).takeInbound(room)
  unsafe BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY)
  guard count > 0 else {
    unsafe BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
    return -1
  }
  return CInt(count)
}

private func write(_ bio: OpaquePointer?, _ from: UnsafePointer<CChar>?, _ count: CInt) -> CInt {
  unsafe session(bio).putOutbound(UnsafeRawBufferPointer(start: from, count: Int(max(count, 0))))
  return count
}

private func control(
  _ bio: OpaquePointer?, _ command: CInt, _ number: Int, _ pointer: UnsafeMutableRawPointer?
) -> Int {
  switch command {
  case BIO_CTRL_FLUSH: return 1
  case BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT:
    if let pointer = unsafe pointer { unsafe session(bio).timerAnnounced(pointer) }
    return 1
  default: return 0  // among them: nothing pending, no overhead per datagram, no path MTU known
  }
}
