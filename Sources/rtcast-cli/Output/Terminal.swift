import Glibc
import RTCPrimitives
import Synchronization

/// Standard output and standard error, line by line. The live line, if there is one, stays below the output. Any
/// thread.
///
/// All output goes through here, so that no text reaches the terminal as a control sequence, even if a part of a
/// sentence came from elsewhere (`foreignText`). The program's own colours are added here.
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
  static func print(_ text: String) { aboveLive(shown(text), to: STDOUT_FILENO) }

  /// A line on standard output of which a part is bold.
  static func print(_ before: String, bold: String, _ after: String = "") {
    aboveLive("\(shown(before))\u{1B}[1m\(shown(bold))\u{1B}[0m\(shown(after))", to: STDOUT_FILENO)
  }

  /// A code for cameras on standard output, indented like the lines around it.
  static func print(_ code: QRCode) { for line in code.lines { aboveLive("  " + line, to: STDOUT_FILENO) } }

  /// A line on standard error.
  static func log(_ text: String) { aboveLive(shown(text), to: STDERR_FILENO) }

  /// A sentence on standard error, under the program's name; in the journal, an error or a warning.
  static func complain(_ sentence: String, isWarning: Bool = false) {
    if Journal.write(sentence.foreignText(limit: .max), isWarning ? .warning : .error) { return }
    log("rtcast: \(sentence)")
  }

  /// Redraws the live line in place; an empty one takes it away. The text must fit the width. A dot that it begins with is
  /// green.
  static func showLive(_ text: String) {
    let plain = shown(text)
    let text = plain.hasPrefix("●") ? "\u{1B}[32m●\u{1B}[0m" + plain.dropFirst() : plain
    live.withLock { line in
      guard line != text else { return }
      line = text
      write(erase + text, to: STDOUT_FILENO)
    }
  }

  /// Call before the first output: ensures that printed text is written before the process ends.
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

  private static func shown(_ text: String) -> String { text.foreignText(limit: .max, keepsLines: true) }

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
