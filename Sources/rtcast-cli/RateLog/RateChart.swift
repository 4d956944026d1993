package import RTCEngine

/// A picture of rate logs: for each connection the rates, the delays and the losses over time, one above the other. SVG 1.1,
/// without anything from elsewhere.
package struct RateChart {
  /// The known capacity of the network over time.
  package struct Schedule: Hashable, Sendable {
    /// From a time on, in seconds since the connection began; bit/s.
    package struct Step: Hashable, Sendable {
      package var time: Double
      package var rate: Double

      package init(time: Double, rate: Double) {
        self.time = time
        self.rate = rate
      }
    }

    package var steps: [Step]

    package init(_ steps: [Step]) { self.steps = steps.sorted { $0.time < $1.time } }
  }

  private static let width = 1_200.0
  private static let left = 76.0
  private static let right = 1_184.0
  private static let blockHeight = 680.0

  private let capacity: [Schedule.Step]
  private var out = ""

  private init(capacity: Schedule?) { self.capacity = capacity?.steps ?? [] }

  /// The document.
  package static func svg(_ all: [RateSeries], capacity: Schedule? = nil) -> String {
    var chart = RateChart(capacity: capacity)
    let height = max(1, Double(all.count)) * blockHeight
    chart.out += """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(px(width))" height="\(px(height))" \
      viewBox="0 0 \(px(width)) \(px(height))" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="12">
      <rect width="100%" height="100%" fill="#ffffff"/>

      """
    for (index, series) in all.enumerated() { chart.draw(series, top: Double(index) * blockHeight) }
    return chart.out + "</svg>\n"
  }

  private mutating func draw(_ series: RateSeries, top: Double) {
    let title =
      "Viewer \(series.id): \(series.algorithm.rawValue), \(Figures.duration(seconds: Int64(series.end)))"
    text(title, x: Self.left, y: top + 24, size: 15, weight: "bold")
    let end = max(series.end, 1)
    drawRates(series, Panel(top: top + 62, height: 270, end: end))
    drawReasons(series, top: top + 338, end: end)
    drawDelays(series, Panel(top: top + 402, height: 130, end: end))
    drawLosses(series, Panel(top: top + 566, height: 70, end: end))
    drawTimes(top: top + 636, end: end)
  }

  // MARK: - Panels

  private mutating func drawRates(_ series: RateSeries, _ panel: Panel) {
    var panel = panel
    let sent = series.sentRates()
    let bounds = [
      series.estimates.map { Double($0.value.target.bitsPerSecond) }.max(), sent.map(\.rate).max(),
      series.estimates.compactMap { $0.value.acknowledged.map { Double($0.bitsPerSecond) } }.max(),
      capacity.map(\.rate).max(),
    ]
    panel.maximum = (bounds.compactMap(\.self).max() ?? 1_000_000) * 1.05
    frame(panel) { Figures.rate(bitsPerSecond: Int64($0)) }
    func estimated(_ part: (NetworkEstimate) -> Double?) -> [Point] {
      Self.steps(series.estimates.map { ($0.time, part($0.value)) }, until: panel.end)
    }
    let x = draw(
      [
        Line("sent", "#9ca3af", 1, sent.map { Point($0.time, $0.rate) }),
        Line("acknowledged", "#16a34a", 1, estimated { $0.acknowledged.map { Double($0.bitsPerSecond) } }),
        Line("loss-based", "#c026d3", 1, estimated { $0.lossBased.map { Double($0.bitsPerSecond) } }),
        Line("delay-based", "#d97706", 1, estimated { $0.delayBased.map { Double($0.bitsPerSecond) } }),
        Line("target", "#1d4ed8", 2, estimated { Double($0.target.bitsPerSecond) }),
        Line(
          "capacity", "#111827", 1.5, Self.steps(capacity.map { ($0.time, $0.rate) }, until: panel.end), isDashed: true),
      ], panel)
    if !series.probes.isEmpty {
      for probe in series.probes {
        let (x, y) = (panel.x(probe.time), panel.y(probe.rate))
        out += "<path d=\"M\(px(x - 4)) \(px(y + 4))h8l-4 -8z\" fill=\"#0891b2\"/>\n"
      }
      _ = legend("probes", "#0891b2", x: x, y: panel.top - 8)
    }
  }

  /// A strip that shows what decided the target.
  private mutating func drawReasons(_ series: RateSeries, top: Double, end: Double) {
    let panel = Panel(top: top, height: 10, end: end)
    var used: [NetworkEstimate.Reason] = []
    var index = 0
    while index < series.estimates.count {
      let (time, estimate) = series.estimates[index]
      if !used.contains(estimate.reason) { used.append(estimate.reason) }
      while index < series.estimates.count, series.estimates[index].value.reason == estimate.reason { index += 1 }
      let until = index < series.estimates.count ? series.estimates[index].time : end
      let width = max(0.5, panel.x(until) - panel.x(time))
      out += """
        <rect x="\(px(panel.x(time)))" y="\(px(top))" width="\(px(width))" height="10" fill="\(estimate.reason.color)">\
        <title>\(estimate.reason.rawValue)</title></rect>

        """
    }
    var x = Self.left
    for reason in used { x = legend(reason.words, reason.color, x: x, y: top + 26) }
  }

  private mutating func drawDelays(_ series: RateSeries, _ panel: Panel) {
    var panel = panel
    let packets = series.delays()
    let queueing = series.estimates.map { ($0.time, $0.value.queueingDelay.map { $0.seconds * 1_000 }) }
    let sorted = packets.map(\.milliseconds).sorted()
    // A few packets that were far behind must not flatten the rest.
    let nearlyAll = sorted.isEmpty ? nil : sorted[(sorted.count - 1) * 995 / 1_000]
    let bounds = [nearlyAll, series.roundTrips.map(\.milliseconds).max(), queueing.compactMap(\.1).max()]
    panel.maximum = max(10, (bounds.compactMap(\.self).max() ?? 0) * 1.05)
    frame(panel) { Figures.fixed($0, 0) + " ms" }
    let roundTrips = series.roundTrips.map { ($0.time, Optional($0.milliseconds)) }
    draw(
      [
        Line("delay of packets above the least", "#9ca3af", 0.8, packets.map { Point($0.time, $0.milliseconds) }),
        Line("queueing delay", "#dc2626", 1.5, Self.steps(queueing, until: panel.end)),
        Line("round trip", "#1d4ed8", 1, Self.steps(roundTrips, until: panel.end)),
      ], panel)
  }

  private mutating func drawLosses(_ series: RateSeries, _ panel: Panel) {
    var panel = panel
    let losses = series.losses()
    let estimated = series.estimates.map { ($0.time, Optional($0.value.loss * 100)) }
    let most = max(losses.map { $0.loss * 100 }.max() ?? 0, estimated.compactMap(\.1).max() ?? 0)
    panel.maximum = min(100, max(5, most * 1.1))
    frame(panel) { Figures.fixed($0, 0) + " %" }
    for second in losses where second.loss > 0 {
      let (x, y) = (panel.x(second.time), panel.y(second.loss * 100))
      out += """
        <rect x="\(px(x))" y="\(px(y))" width="\(px(max(0.5, panel.x(second.time + 1) - x - 0.5)))" \
        height="\(px(panel.top + panel.height - y))" fill="#fca5a5"/>

        """
    }
    draw(Line("", "#b91c1c", 1.5, Self.steps(estimated, until: panel.end)), panel)
    let x = legend("loss of packets, by second", "#fca5a5", x: Self.left, y: panel.top - 8)
    _ = legend("loss as estimated", "#b91c1c", x: x, y: panel.top - 8)
  }

  private mutating func drawTimes(top: Double, end: Double) {
    let panel = Panel(top: top, height: 0, end: end)
    for time in Self.ticks(end, atMost: 12) {
      text(
        Figures.fixed(time, end < 10 ? 1 : 0) + " s", x: panel.x(time), y: top + 16, anchor: "middle", color: "#4b5563")
    }
  }

  // MARK: - Parts

  private struct Point {
    var x, y: Double
    init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }
  }

  private struct Line {
    let name, color: String
    let width: Double
    let points: [Point]
    let isDashed: Bool

    init(_ name: String, _ color: String, _ width: Double, _ points: [Point], isDashed: Bool = false) {
      (self.name, self.color, self.width, self.points, self.isDashed) = (name, color, width, points, isDashed)
    }
  }

  /// The points in one column of the picture: the first, the lowest, the highest and the last.
  private struct Column {
    let x, first: Double
    private var low, high, last: Double

    init(x: Double, _ y: Double) {
      self.x = x
      (first, low, high, last) = (y, y, y, y)
    }

    mutating func add(_ y: Double) {
      low = max(low, y)
      high = min(high, y)
      last = y
    }

    var path: String {
      var ys = [first]
      for y in [low, high, last] where y != ys.last { ys.append(y) }
      return ys.map { "L\(RateChart.px(x)) \(RateChart.px($0))" }.joined()
    }
  }

  /// The position of values in the picture.
  private struct Panel {
    var top, height, end: Double
    var maximum = 1.0

    func x(_ time: Double) -> Double {
      RateChart.left + max(0, min(1, time / end)) * (RateChart.right - RateChart.left)
    }
    func y(_ value: Double) -> Double { top + height * (1 - max(0, min(1, value / maximum))) }
  }

  /// Each value holds until the next; nil: there is none for that time.
  private static func steps(_ values: [(time: Double, value: Double?)], until end: Double) -> [Point] {
    var points: [Point] = []
    for (index, (time, value)) in values.enumerated() {
      guard let value else { continue }
      points.append(Point(time, value))
      points.append(Point(index + 1 < values.count ? values[index + 1].time : end, value))
    }
    return points
  }

  private static func ticks(_ maximum: Double, atMost count: Int) -> [Double] {
    var step = 1e-3
    let steps = [1.0, 2, 5]
    var index = 0
    while maximum / step > Double(count) {
      index += 1
      step = steps[index % 3] * pow10(index / 3 - 3)
    }
    return Array(stride(from: 0, through: maximum, by: step))
  }

  private static func pow10(_ exponent: Int) -> Double {
    var value = 1.0
    for _ in 0..<abs(exponent) { value *= 10 }
    return exponent < 0 ? 1 / value : value
  }

  private mutating func frame(_ panel: Panel, _ label: (Double) -> String) {
    for value in Self.ticks(panel.maximum, atMost: panel.height > 200 ? 6 : 3) {
      let y = panel.y(value)
      out += "<path d=\"M\(px(Self.left)) \(px(y))H\(px(Self.right))\" stroke=\"#e5e7eb\"/>\n"
      text(label(value), x: Self.left - 6, y: y + 4, anchor: "end", color: "#4b5563")
    }
    for time in Self.ticks(panel.end, atMost: 12) {
      let x = panel.x(time)
      out += "<path d=\"M\(px(x)) \(px(panel.top))V\(px(panel.top + panel.height))\" stroke=\"#f3f4f6\"/>\n"
    }
  }

  /// Draws the lines that have points, and names them above the panel.
  /// - Returns: where the next name begins.
  @discardableResult
  private mutating func draw(_ lines: [Line], _ panel: Panel) -> Double {
    var x = Self.left
    for line in lines where !line.points.isEmpty {
      draw(line, panel)
      x = legend(line.name, line.color, x: x, y: panel.top - 8)
    }
    return x
  }

  private mutating func draw(_ line: Line, _ panel: Panel) {
    let points = line.points
    guard let first = points.first else { return }
    var path = "M\(px(panel.x(first.x))) \(px(panel.y(first.y)))"
    var column = Column(x: panel.x(first.x), panel.y(first.y))
    for point in points {
      let (x, y) = ((panel.x(point.x) * 2).rounded() / 2, panel.y(point.y))
      if column.x == x {
        column.add(y)
      } else {
        path += column.path
        column = Column(x: x, y)
      }
    }
    path += column.path
    let dashes = line.isDashed ? " stroke-dasharray=\"6 4\"" : ""
    out += "<path d=\"\(path)\" fill=\"none\" stroke=\"\(line.color)\" stroke-width=\"\(px(line.width))\"\(dashes)/>\n"
  }

  /// - Returns: where the next begins.
  private mutating func legend(_ name: String, _ color: String, x: Double, y: Double) -> Double {
    out += "<rect x=\"\(px(x))\" y=\"\(px(y - 8))\" width=\"14\" height=\"8\" fill=\"\(color)\"/>\n"
    text(name, x: x + 19, y: y, color: "#374151")
    return x + 19 + Double(name.count) * 7.2 + 18
  }

  private mutating func text(
    _ text: String, x: Double, y: Double, anchor: String = "start", size: Int = 12, weight: String = "normal",
    color: String = "#111827"
  ) {
    out += """
      <text x="\(px(x))" y="\(px(y))" text-anchor="\(anchor)" font-size="\(size)" font-weight="\(weight)" \
      fill="\(color)">\(Self.escaped(text))</text>

      """
  }

  /// Names may be anybody's.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text.printable {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
    return result
  }

  fileprivate static func px(_ value: Double) -> String { Figures.fixed(value, 1) }
  private func px(_ value: Double) -> String { Self.px(value) }
}

extension NetworkEstimate.Reason {
  fileprivate var color: String {
    switch self {
    case .start: "#9ca3af"
    case .increase: "#4ade80"
    case .hold: "#bae6fd"
    case .probe: "#06b6d4"
    case .overuse: "#fb923c"
    case .queue: "#c2410c"
    case .loss: "#ef4444"
    case .roundTrip: "#92400e"
    case .feedback: "#111827"
    case .remote: "#7c3aed"
    case .limits: "#6b7280"
    }
  }

  /// For a person.
  package var words: String {
    switch self {
    case .start: "start"
    case .increase: "increase"
    case .hold: "hold"
    case .probe: "probe"
    case .overuse: "delay grows"
    case .queue: "a queue stands"
    case .loss: "loss"
    case .roundTrip: "long round trip"
    case .feedback: "no feedback"
    case .remote: "asked by the viewer"
    case .limits: "limits"
    }
  }
}
