/// Secrets are compared here and nowhere else.
enum Secret {
  /// Compares a credential with the secret. The time depends on the length of the credential, not on the number of
  /// matching bytes.
  static func matches(_ shown: String, _ secret: [UInt8]) -> Bool {
    guard !secret.isEmpty else { return false }
    var difference = UInt(bitPattern: shown.utf8.count ^ secret.count)
    for (index, byte) in shown.utf8.enumerated() { difference |= UInt(byte ^ secret[index % secret.count]) }
    return difference == 0
  }
}
