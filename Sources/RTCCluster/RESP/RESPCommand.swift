/// Writes commands of Redis' protocol: lists of strings.
package enum RESPCommand {
  /// Appends a command to `bytes`.
  package static func append(_ words: [String], to bytes: inout [UInt8]) {
    bytes += "*\(words.count)\r\n".utf8
    for word in words {
      bytes += "$\(word.utf8.count)\r\n".utf8
      bytes += word.utf8
      bytes += [13, 10]
    }
  }
}
