import ArgumentParser
import RTCPrimitives

extension RateChart.Schedule {
  /// `--capacity`: seconds and rates, such as `0:5M,20:600k`.
  package init(text: String) throws {
    self.init(
      try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
        let sides = part.split(separator: ":", maxSplits: 1).map(String.init)
        guard sides.count == 2, let time = Double(sides[0]), (0...1e6).contains(time),
          let rate = BitRate(text: sides[1], within: 0...1e12)
        else {
          throw ValidationError("--capacity takes seconds and rates such as 0:5M,20:600k, not '\(part)'.")
        }
        return Step(time: time, rate: Double(rate.bitsPerSecond))
      })
  }
}
