import Glibc
import RTCNet
import Synchronization

/// The keyboard of the terminal, key by key. Ctrl-C stays a signal.
enum TerminalKeys {
  private static let before = Mutex<termios?>(nil)

  /// Whether standard input is a terminal.
  static var isPossible: Bool { isatty(STDIN_FILENO) == 1 }

  /// Keys as they are typed, until `restore`. Once per process.
  static func start() -> AsyncStream<PlaybackKey> {
    let (keys, continuation) = AsyncStream.makeStream(of: PlaybackKey.self, bufferingPolicy: .bufferingNewest(32))
    var settings = termios()
    guard isPossible, tcgetattr(STDIN_FILENO, &settings) == 0 else {
      continuation.finish()
      return keys
    }
    before.withLock { $0 = settings }
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    atexit { TerminalKeys.restore() }
    // Never joined: it waits for a key when the process ends.
    _ = try? NamedThread(name: "rtc-keys") {
      var reader = PlaybackKeyReader()
      var byte: UInt8 = 0
      while true {
        let count = read(STDIN_FILENO, &byte, 1)
        if count < 0, errno == EINTR { continue }
        guard count == 1 else { break }
        if let key = reader.take(byte) { continuation.yield(key) }
      }
      continuation.finish()
    }
    return keys
  }

  /// Leaves the terminal as it was found.
  static func restore() {
    before.withLock { settings in
      guard var old = settings else { return }
      tcsetattr(STDIN_FILENO, TCSANOW, &old)
      settings = nil
    }
  }
}
