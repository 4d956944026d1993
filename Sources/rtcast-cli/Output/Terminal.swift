import Glibc
import Synchronization

/// Standard output and standard error, line by line. The live line, if there is one, stays below whatever is printed.
/// Any thread.
enum Terminal {
  private static let live = Mutex("")

  /// Whether standard output is a terminal that can redraw a line.
  static let isInteractive =
    isatty(STDOUT_FILENO) == 1 && getenv("TERM").map { String(cString: $0) } ?? "dumb" != "dumb"

  /// Width and height in characters; 80 by 24 when the terminal does not say.
  static var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// A line on standard output.
  static func print(_ text: String) { aboveLive(text, to: STDOUT_FILENO) }

  /// A line on standard error.
  static func log(_ text: String) { aboveLive(text, to: STDERR_FILENO) }

  /// A sentence on standard error, under the program's name.
  static func complain(_ sentence: String) { log("rtcast: \(sentence)") }

  /// Redraws the live line in place; an empty one takes it away. The text must fit the width.
  static func showLive(_ text: String) {
    live.withLock { line in
      guard line != text else { return }
      line = text
      write(erase + text, to: STDOUT_FILENO)
    }
  }

  /// Before anything is printed: what is printed leaves before the process does.
  static func prepare() {
    atexit {
      StandardStream.output.flush()
      StandardStream.error.flush()
    }
  }

  /// For commands that only print: what could not be printed was not done.
  static func finish() throws {
    StandardStream.output.flush()
    if StandardStream.output.failure != nil { throw ExitStatus.outputError.code }
  }

  private static let erase = "\r\u{1B}[K"

  private static func aboveLive(_ text: String, to descriptor: Int32) {
    live.withLock { line in
      if line.isEmpty { return write(text + "\n", to: descriptor) }
      write(erase, to: STDOUT_FILENO)
      write(text + "\n", to: descriptor)
      write(line, to: STDOUT_FILENO)
    }
  }

  private static func write(_ text: String, to descriptor: Int32) {
    if descriptor == STDERR_FILENO {
      _ = StandardStream.error.write(text)
    } else if let trouble = StandardStream.output.write(text) {
      _ = StandardStream.error.write("rtcast: \(trouble.sentence)\n")
    }
  }
}
