import ArgumentParser
package import RTCPrimitives

/// `--segment`.
package struct SegmentLength: Hashable, Sendable {
  package let duration: TimeDelta

  /// A whole number of seconds, minutes, hours or days; a number alone means seconds.
  package init(parsing text: String) throws {
    let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    let unit = text.last.flatMap { units[$0] }
    guard let value = Int64(unit == nil ? text : String(text.dropLast())), value > 0,
      value <= 30 * 86_400 / (unit ?? 1)
    else {
      throw ValidationError(
        "--segment takes the length of a file, from 1s to 30d, such as 90s, 10m or 1h; not '\(text)'.")
    }
    duration = .seconds(value * (unit ?? 1))
  }
}
