/// Numbers as a person reads them.
package enum Figures {
  /// With `decimals` digits after the point, as C's `%.nf` in the C locale.
  package static func fixed(_ value: Double, _ decimals: Int) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "–" }
    var scale: Int64 = 1
    for _ in 0..<decimals { scale *= 10 }
    let units = Int64((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && units > 0 ? "-" : ""
    guard decimals > 0 else { return sign + String(units) }
    let fraction = String(units % scale)
    return "\(sign)\(units / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
  }

  /// Such as `182 kbit/s` or `4.2 Mbit/s`.
  package static func rate(bitsPerSecond: Int64) -> String {
    switch bitsPerSecond {
    case ..<1_000: "\(bitsPerSecond) bit/s"
    case ..<1_000_000: "\(bitsPerSecond / 1_000) kbit/s"
    default: fixed(Double(bitsPerSecond) / 1e6, 1) + " Mbit/s"
    }
  }

  /// Such as `1.4 ms` or `35 ms`.
  package static func milliseconds(_ value: Double) -> String { fixed(value, value < 10 ? 1 : 0) + " ms" }

  /// Such as `42 s`, `3:07` or `1:02:33`.
  package static func duration(seconds: Int64) -> String {
    func two(_ n: Int64) -> String { n < 10 ? "0\(n)" : "\(n)" }
    return switch seconds {
    case ..<60: "\(seconds) s"
    case ..<3600: "\(seconds / 60):\(two(seconds % 60))"
    default: "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }
  }

  package static func count(_ n: Int, _ singular: String) -> String { "\(n) \(singular)\(n == 1 ? "" : "s")" }
}
