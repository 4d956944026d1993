import Glibc
import RTCNet

/// Reads standard input line by line.
enum StandardInput {
  /// The lines without line feeds, blank ones included; ends with the input. A thread of its own reads them. It is
  /// never joined, so it does not keep the process from ending. Once per process.
  static func lines() -> AsyncStream<String> {
    let (lines, feed) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(10_000))
    let thread = try? NamedThread(name: "rtc-input") {
      while let line = readLine(strippingNewline: true) {
        guard line.utf8.count <= 64 * 1_024 else { continue }
        if case .terminated = feed.yield(line) { return }
      }
      feed.finish()
    }
    if thread == nil { feed.finish() }
    return lines
  }

  /// The lines up to a blank one or the end, after any blank ones before; nil when there is nothing, or more than
  /// `mostLines`.
  static func paragraph(_ lines: AsyncStream<String>, mostLines: Int = 4_096) async -> [String]? {
    var paragraph: [String] = []
    for await line in lines {
      let isBlank = line.allSatisfy { $0.isWhitespace }
      if isBlank, !paragraph.isEmpty { break }
      if !isBlank { paragraph.append(line) }
      guard paragraph.count <= mostLines else { return nil }
    }
    return paragraph.isEmpty ? nil : paragraph
  }
}
