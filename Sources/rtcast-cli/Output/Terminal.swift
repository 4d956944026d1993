import Glibc

/// The person's side: one sentence on standard error, text on standard output.
enum Terminal {
  static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// The terminal's width in columns; 80 when it does not say.
  static var columns: Int {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  static func print(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }
  static func write(_ text: String) { write(text, to: STDOUT_FILENO) }

  /// A sentence on standard error, under the program's name.
  static func complain(_ sentence: String) { write("rtcast: \(sentence)\n", to: STDERR_FILENO) }

  private static func write(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }  // nobody reads any more
      start += count
    }
  }
}
