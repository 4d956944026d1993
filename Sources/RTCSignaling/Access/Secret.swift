/// Secrets are compared here and nowhere else.
enum Secret {
  /// Whether what was shown is the secret. The time it takes depends on the length of what was shown, not on how much of
  /// it is right.
  static func matches(_ shown: String, _ secret: [UInt8]) -> Bool {
    guard !secret.isEmpty else { return false }
    var difference = UInt(bitPattern: shown.utf8.count ^ secret.count)
    for (index, byte) in shown.utf8.enumerated() { difference |= UInt(byte ^ secret[index % secret.count]) }
    return difference == 0
  }
}
