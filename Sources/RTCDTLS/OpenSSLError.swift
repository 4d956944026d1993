import COpenSSL

/// An error of OpenSSL's own queue.
public struct OpenSSLError: Error, Hashable, Sendable, CustomStringConvertible {
  /// OpenSSL's packed error code: the library and the reason.
  public let code: UInt

  init(code: UInt) { self.code = code }

  /// Takes the oldest error of this thread's queue, the one closest to the cause, and empties the queue.
  static func take() -> OpenSSLError {
    let error = OpenSSLError(code: ERR_get_error())
    ERR_clear_error()
    return error
  }

  /// The last of the errors that wait on this thread, which the outermost call left; the queue is empty afterwards.
  static func takeLast() -> OpenSSLError {
    let error = OpenSSLError(code: ERR_peek_last_error())
    ERR_clear_error()
    return error
  }

  /// The reason, if the error came from the TLS library, as one of OpenSSL's `SSL_R_…` numbers.
  var tlsReason: CInt? {
    ERR_GET_LIB(code) == CInt(ERR_LIB_SSL) ? ERR_GET_REASON(code) : nil
  }

  /// OpenSSL's text for the reason, or the code in decimal when it has none.
  public var description: String {
    guard code != 0, let text = unsafe ERR_reason_error_string(code) else { return "OpenSSL error \(code)" }
    return unsafe String(cString: text)
  }
}
