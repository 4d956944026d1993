import RTCPrimitives

/// Detects increasing delay: the slope of the delay over the last groups, compared with a threshold that adapts to the
/// path (draft-ietf-rmcat-gcc-02 §5.3 and §5.4, with libwebrtc's line fit in place of a filter).
struct TrendlineEstimator {
  /// How the path is used.
  enum Usage { case normal, overuse, underuse }

  private static let window = 20
  private static let smoothing = 0.9
  private static let gain = 4.0
  private static let maximumDeltas = 60
  /// The slope must lie above the threshold for so long, milliseconds.
  private static let overuseTime = 10.0
  private static let initialThreshold = 12.5
  private static let thresholds = 6.0...600.0
  private static let (thresholdUp, thresholdDown) = (0.0087, 0.039)
  /// The distance from the threshold above which a slope is an exceptional event, to which the threshold does not
  /// adapt.
  private static let largestAdaptation = 15.0

  private struct Point {
    var time = 0.0
    var delay = 0.0
  }

  private var points = [Point](repeating: Point(), count: Self.window)
  /// All groups since the last reset.
  private var count = 0
  private var origin: Int64 = 0
  private var accumulated = 0.0
  private var smoothed = 0.0
  private var threshold = Self.initialThreshold
  private var lastAdaptation: Double?
  private var timeOver: Double?
  private var timesOver = 0
  private var lastTrend = 0.0

  private(set) var usage = Usage.normal

  /// Takes the step between two groups.
  mutating func add(_ delta: InterArrival.Delta) {
    if count == 0 { origin = delta.arrival }
    let time = TimeDelta(nanoseconds: delta.arrival &- origin).seconds * 1_000
    accumulated += (delta.arrived - delta.sent).seconds * 1_000
    smoothed = count == 0 ? accumulated : Self.smoothing * smoothed + (1 - Self.smoothing) * accumulated
    points[count % Self.window] = Point(time: time, delay: smoothed)
    count += 1
    let trend = count >= Self.window ? slope ?? lastTrend : 0
    detect(trend, step: max(delta.sent.seconds * 1_000, 0), time: time)
  }

  /// Least squares over the points; nil when they lie in one moment.
  private var slope: Double? {
    var (time, delay) = (0.0, 0.0)
    for point in points {
      time += point.time
      delay += point.delay
    }
    time /= Double(Self.window)
    delay /= Double(Self.window)
    var (numerator, denominator) = (0.0, 0.0)
    for point in points {
      numerator += (point.time - time) * (point.delay - delay)
      denominator += (point.time - time) * (point.time - time)
    }
    return denominator > 0 ? numerator / denominator : nil
  }

  private mutating func detect(_ trend: Double, step: Double, time: Double) {
    let modified = Double(min(count, Self.maximumDeltas)) * trend * Self.gain
    if modified > threshold {
      timeOver = timeOver.map { $0 + step } ?? step / 2
      timesOver += 1
      if timeOver ?? 0 > Self.overuseTime, timesOver > 1, trend >= lastTrend {
        timeOver = 0
        timesOver = 0
        usage = .overuse
      }
    } else {
      timeOver = nil
      timesOver = 0
      usage = modified < -threshold ? .underuse : .normal
    }
    lastTrend = trend
    adapt(abs(modified), time)
  }

  private mutating func adapt(_ modified: Double, _ time: Double) {
    defer { lastAdaptation = time }
    guard modified <= threshold + Self.largestAdaptation, let lastAdaptation else { return }
    let step = max(0, min(time - lastAdaptation, 100))
    let speed = modified < threshold ? Self.thresholdDown : Self.thresholdUp
    threshold += speed * (modified - threshold) * step
    threshold = max(Self.thresholds.lowerBound, min(Self.thresholds.upperBound, threshold))
  }

  /// Discards the samples, as after a pause; the threshold stays.
  mutating func reset() {
    count = 0
    accumulated = 0
    smoothed = 0
    lastAdaptation = nil
    timeOver = nil
    timesOver = 0
    lastTrend = 0
    usage = .normal
  }
}
