import RTCPrimitives

extension BitRate {
  /// Bits a second, with `k` or `M` for thousands and millions. Nil when it is no number, or not within `range`.
  init?(text: String, within range: ClosedRange<Double> = 100_000...100_000_000) {
    let factors: [Character: Double] = ["k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6]
    let factor = text.last.flatMap { factors[$0] }
    let value = Double(factor == nil ? text[...] : text.dropLast()).map { $0 * (factor ?? 1) }
    guard let value, range.contains(value) else { return nil }
    self.init(bitsPerSecond: Int64(value))
  }
}
