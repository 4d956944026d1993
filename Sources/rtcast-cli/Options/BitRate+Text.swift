import RTCPrimitives

extension BitRate {
  /// Bits a second, with `k` or `M` for thousands and millions. Nil when it is no number from 100k to 100M.
  init?(text: String) {
    let factors: [Character: Double] = ["k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6]
    let factor = text.last.flatMap { factors[$0] }
    let value = Double(factor == nil ? text[...] : text.dropLast()).map { $0 * (factor ?? 1) }
    guard let value, (100_000...100_000_000).contains(value) else { return nil }
    self.init(bitsPerSecond: Int64(value))
  }
}
