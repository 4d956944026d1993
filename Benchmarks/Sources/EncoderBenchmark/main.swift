// What a viewer on a slow or changing link gets of an encoder: real encodes of a 1080p desktop on virtual time
// over a simulated link. One line a phase: frames a second, gaps, delays, the queue, the rate over windows, PSNR.
//
// EncoderBenchmark SCENARIO… [--codec vp8|vp9|vp9-444|av1|av1-444|h264|h264-444] [--pictures FOLDER] [--lag MS] [--frames]
//   [--hint detail|text|motion] [--busy FACTOR] [--wobble SHARE] [--threads N] [--fps N] [--silent] [--table]
//
// Contents change 30 times a second; `--fps` says how often they are captured, at most,
// and pictures that wait are announced, unless `--silent`.
//
// `--table` prints Markdown rows for Benchmarks/RESULTS.md instead, which Benchmarks/Encoders/compare.py collects.

import Glibc
import RTCCodecAOM
import RTCCodecFFmpeg
import RTCCodecVPX
#if X264
  import RTCCodecX264
#endif
import RTCMedia
import RTCast

/// Milliseconds of processor time this process has used.
func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
}

func option(_ name: String) -> String? {
  CommandLine.arguments.firstIndex(of: name).map { CommandLine.arguments[$0 + 1] }
}

func fixed(_ value: Double, _ digits: Int = 1) -> String {
  let scale = pow(10.0, Double(digits))
  let scaled = Int((value * scale).rounded())
  guard digits > 0 else { return "\(scaled)" }
  let fraction = "\(abs(scaled) % Int(scale))"
  return "\(scaled < 0 ? "-" : "")\(abs(scaled) / Int(scale))."
    + String(repeating: "0", count: digits - fraction.count) + fraction
}

enum Content { case scroll, rest, typing, film, lines, slides, change(Int) }

struct Phase {
  var length: TimeDelta
  var rate: Int64
  var content: Content
}

func phase(_ seconds: Double, _ kilobits: Int64, _ content: Content) -> Phase {
  Phase(length: .seconds(seconds), rate: kilobits, content: content)
}

let scenarios: [String: [Phase]] = [
  "drop": [phase(5, 5000, .scroll), phase(10, 600, .scroll), phase(10, 3000, .scroll)],
  "scroll-1000": [phase(15, 1000, .rest), phase(10, 1000, .scroll), phase(10, 1000, .rest)],
  "scroll-2500-rest": [phase(10, 2500, .rest), phase(10, 2500, .scroll), phase(10, 2500, .rest)],
  "typing-1000": [phase(20, 1000, .rest), phase(5, 1000, .typing)],
  "typing-2500": [phase(15, 2500, .rest), phase(5, 2500, .typing)],
  "start-1000": [phase(20, 1000, .rest)], "start-2500": [phase(10, 2500, .rest)],
  "scroll-2500": [phase(1, 2500, .rest), phase(10, 2500, .scroll)],
  "scroll-5000": [phase(1, 5000, .rest), phase(10, 5000, .scroll)],
  "scroll-600": [phase(1, 600, .rest), phase(15, 600, .scroll), phase(6, 600, .rest)],
  "scroll-300": [phase(1, 300, .rest), phase(15, 300, .scroll), phase(6, 300, .rest)],
  "scroll-100": [phase(1, 100, .rest), phase(20, 100, .scroll), phase(10, 100, .rest)],
  "change-1000": [phase(30, 1000, .rest), phase(5, 1000, .change(1)), phase(5, 1000, .change(0))],
  "change-600": [phase(40, 600, .rest), phase(8, 600, .change(1))],
  "change-6000": [phase(5, 6000, .rest), phase(5, 6000, .change(1))],
  "start-600": [phase(10, 600, .rest)], "start-6000": [phase(3, 6000, .rest)],
  "film-1000": [phase(0.5, 1000, .rest), phase(12, 1000, .film), phase(4, 1000, .rest)],
  "film-2500": [phase(0.5, 2500, .rest), phase(10, 2500, .film), phase(4, 2500, .rest)],
  "film-6000": [phase(2, 6000, .rest), phase(10, 6000, .film), phase(4, 6000, .rest)],
  "lines-2500": [phase(2, 2500, .rest), phase(10, 2500, .lines), phase(4, 2500, .rest)],
  "lines-6000": [phase(2, 6000, .rest), phase(10, 6000, .lines), phase(4, 6000, .rest)],
  "slides-2500": [phase(2, 2500, .rest), phase(12, 2500, .slides), phase(4, 2500, .rest)],
  "slides-6000": [phase(2, 6000, .rest), phase(12, 6000, .slides), phase(4, 6000, .rest)],
  "typing-600": [phase(30, 600, .rest), phase(5, 600, .typing)],
]

@MainActor
final class Run {
  struct Coded {
    var time: Timestamp
    var bytes: Int
    var quantizer: Int
    var psnr: Double
    /// PSNR of the page of text, in dB.
    var page: Double
    /// PSNR of the rectangle in which the film plays, in dB.
    var film: Double
    /// PSNR of red, green and blue, in dB.
    var colour: Double
    var milliseconds: Double
    var isCaptured: Bool
  }

  let screen: Screen
  let phases: [Phase]
  let lag: TimeDelta
  let decoder: any VideoDecoder
  var stage: EncodeStage
  var controls: EncoderControls
  var link = Link(propagation: .milliseconds(25))
  var coded: [Coded] = []
  var now = Timestamp.zero
  var row = 0
  private var slidesBegin = 0
  private var forecast = PictureForecast()
  private let isSilent = CommandLine.arguments.contains("--silent")
  var queueMilliseconds: [(time: Timestamp, queue: Double)] = []
  private let truth = InputPicture(size: Screen.size)

  init(_ phases: [Phase], screen: Screen, lag: TimeDelta, hint: ContentHint) throws {
    self.phases = phases
    self.screen = screen
    self.lag = lag
    let codec = option("--codec") ?? "vp8"
    switch codec {
    case "vp8": decoder = try VP8Decoder()
    case "vp9", "vp9-444": decoder = try VP9Decoder()
    case "h264", "h264-444": decoder = try FFmpegVideoDecoder(.h264)
    default: decoder = try FFmpegVideoDecoder(.av1)
    }
    var settings = EncodingSettings(
      contentHint: hint, startBitrate: .kilobitsPerSecond(phases[0].rate),
      bitrates: .kilobitsPerSecond(50)...(.megabitsPerSecond(20)))
    settings.maxFrameRate = option("--fps").flatMap { Double($0) } ?? 30
    settings.encoderThreads = option("--threads").flatMap { Int($0) } ?? 1
    settings.chroma = codec.hasSuffix("-444") ? .full : .quarter
    stage = EncodeStage(
      settings: settings,
      makeEncoder: { settings throws(VideoEncoderError) in
        switch codec {
        case "vp8": return try VP8Encoder(settings)
        case "vp9", "vp9-444": return try VP9Encoder(settings)
        #if X264
          case "h264", "h264-444": return try H264Encoder(settings)
        #endif
        default: return try AV1Encoder(settings)
        }
      })
    controls = EncoderControls(settings)
  }

  func phase(at time: Timestamp) -> (index: Int, start: Timestamp) {
    var start = Timestamp.zero
    for (index, phase) in phases.enumerated() {
      if time < start + phase.length || index == phases.count - 1 { return (index, start) }
      start += phase.length
    }
    return (0, .zero)
  }

  func run() throws {
    let end = Timestamp.zero + phases.reduce(TimeDelta.zero) { $0 + $1.length }
    var (nextDraw, nextCapture) = (Timestamp.zero, Timestamp.zero)
    let captureInterval = TimeDelta.microseconds(Int64(999_990 / (option("--fps").flatMap { Double($0) } ?? 30)))
    var (pending, isFirst) = ([PixelRect](), true)
    var frameNumber = 0
    var shownPhase = -1
    screen.show(wholePage: 0)
    while now < end {
      let index = phase(at: now).index
      let rate = BitRate.kilobitsPerSecond(phases[index].rate)
      // What the sender believes of the link: 95 % of it, and late.
      let believed = phases[phase(at: now < .zero + lag ? .zero : now - lag).index].rate
      controls.bitrate = BitRate.kilobitsPerSecond(believed).scaled(
        by: 0.95 - wobble * (0.5 + 0.5 * sin(Double(now.nanoseconds) / 1e9 * 3)))
      controls.drained = now + rate.time(forBytes: Int(link.queuedBytes))
      stage.apply(controls)
      if now >= nextDraw {
        nextDraw += .microseconds(33_333)
        let damage = draw(phases[index].content, isNew: shownPhase != index, number: frameNumber)
        shownPhase = index
        frameNumber += 1
        for rect in damage where !pending.contains(rect) { pending.append(rect) }
        if !pending.isEmpty, now < nextCapture, !isSilent { forecast.announce(nextCapture, now: now) }
      }
      controls.nextPicture = forecast.nextPicture(now: now)
      controls.forecastLapse = forecast.lapse(now: now)
      stage.apply(controls)
      if now >= nextCapture, isFirst || !pending.isEmpty {
        nextCapture = max(nextCapture + captureInterval, now + captureInterval / 2)
        forecast.notePicture(now: now)
        controls.nextPicture = forecast.nextPicture(now: now)
        controls.forecastLapse = forecast.lapse(now: now)
        stage.apply(controls)
        try take(screen.frame(damage: isFirst ? nil : pending, at: now))
        pending.removeAll()
        isFirst = false
      }
      if let due = stage.nextDeadline(now: now), due <= now {
        let start = processorTime()
        let frame = stage.serve(now: now)
        try send(frame, milliseconds: processorTime() - start, isCaptured: false)
      }
      now += .milliseconds(1)
      link.step(rate, now: now)
      queueMilliseconds.append((now, rate.time(forBytes: Int(link.queuedBytes)).seconds * 1000))
    }
  }

  private func draw(_ content: Content, isNew: Bool, number: Int) -> [PixelRect] {
    switch content {
    case .rest: return []
    case .scroll:
      row += 6
      screen.scroll(to: row)
      return [Screen.page, Screen.counter]
    case .film: return [screen.film(number), screen.count(number)]
    case .lines: return [screen.turnLines(number), screen.count(number)]
    case .slides:
      if isNew { slidesBegin = number }
      let isTurned = (number - slidesBegin) % 90 == 0
      return (isTurned ? [screen.showSlide((number - slidesBegin) / 90)] : []) + [screen.count(number)]
    case .typing: return number % 6 == 0 ? [screen.type(number / 6)] : []
    case .change(let page):
      guard isNew else { return [] }
      screen.show(wholePage: page)
      return [PixelRect(Screen.size)]
    }
  }

  private func take(_ frame: VideoFrame) throws {
    stage.take(frame, now: now)
    let start = processorTime()
    let coded = stage.encode(now: now)
    try send(coded, milliseconds: processorTime() - start, isCaptured: true)
  }

  private func send(_ frame: EncodedFrame?, milliseconds: Double, isCaptured: Bool) throws {
    spend(milliseconds)
    guard let frame else { return }
    link.send(bytes: frame.data.count, index: coded.count, captureTime: now)
    // While something moves, every frame shows a part of it, whoever asked for the frame.
    let isCaptured = if case .scroll = phases[phase(at: now).index].content { true } else { isCaptured }
    let shown = try decoder.decode(frame.data)
    coded.append(
      Coded(
        time: now, bytes: frame.data.count, quantizer: frame.quantizer,
        psnr: shown.map { psnr($0, in: PixelRect(Screen.size)) } ?? 0,
        page: shown.map { psnr($0, in: Screen.page) } ?? 0,
        film: shown.map { psnr($0, in: Screen.filmArea) } ?? 0,
        colour: shown.map { colourPSNR($0) } ?? 0,
        milliseconds: milliseconds, isCaptured: isCaptured))
  }

  /// Encoding takes its time, `--busy` times as long as on a processor of its own; what is captured meanwhile is lost.
  private func spend(_ milliseconds: Double) {
    let end = now + .seconds(milliseconds * busy / 1000)
    while now < end {
      now += .milliseconds(1)
      link.step(.kilobitsPerSecond(phases[phase(at: now).index].rate), now: now)
    }
  }
  private let busy = option("--busy").flatMap { Double($0) } ?? 0
  private let wobble = option("--wobble").flatMap { Double($0) } ?? 0

  /// Luma of what viewers see against the screen.
  private func psnr(_ shown: PixelBuffer, in rect: PixelRect) -> Double {
    let bytes = shown.bytes(ofPlane: 0)
    let stride = shown.stride(ofPlane: 0)
    var sum = 0
    for y in rect.y..<rect.maxY {
      let line = screen.captured + y * Screen.size.width
      var lineSum: Int32 = 0
      for x in rect.x..<rect.maxX {
        let pixel = line[x]
        let luma: Int32 =
          ((66 * Int32(pixel >> 16 & 255) + 129 * Int32(pixel >> 8 & 255) + 25 * Int32(pixel & 255) + 128) >> 8) + 16
        let difference = Int32(bytes[y * stride + x]) - luma
        lineSum += difference * difference
      }
      sum += Int(lineSum)
    }
    return sum == 0 ? 99 : 10 * log10(65_025 * Double(rect.width * rect.height) / Double(sum))
  }

  /// Red, green and blue of what viewers see against the screen, colours of 4:2:0 repeated.
  private func colourPSNR(_ shown: PixelBuffer) -> Double {
    let (luma, blue, red) = (shown.bytes(ofPlane: 0), shown.bytes(ofPlane: 1), shown.bytes(ofPlane: 2))
    let (stride, colourStride) = (shown.stride(ofPlane: 0), shown.stride(ofPlane: 1))
    let shift = shown.format == .i444 ? 0 : 1
    var sum = 0
    for y in 0..<Screen.size.height {
      let line = screen.captured + y * Screen.size.width
      var lineSum = 0
      for x in 0..<Screen.size.width {
        let c = 298 * (Int(luma[y * stride + x]) - 16)
        let d = Int(blue[(y >> shift) * colourStride + (x >> shift)]) - 128
        let e = Int(red[(y >> shift) * colourStride + (x >> shift)]) - 128
        let pixel = Int(line[x])
        func square(_ value: Int, _ wanted: Int) -> Int {
          let difference = min(255, max(0, (value + 128) >> 8)) - (wanted & 255)
          return difference * difference
        }
        lineSum +=
          square(c + 409 * e, pixel >> 16) + square(c - 100 * d - 208 * e, pixel >> 8) + square(c + 516 * d, pixel)
      }
      sum += lineSum
    }
    return sum == 0 ? 99 : 10 * log10(65_025 * Double(Screen.area) * 3 / Double(sum))
  }

  // MARK: - Report

  func report(_ name: String, frames: Bool) {
    if frames { reportFrames() }
    var start = Timestamp.zero
    for (index, phase) in phases.enumerated() {
      report("\(name).\(index)", phase, from: start)
      if printsTable {
        start += phase.length
        continue
      }
      if case .change = phase.content { reportChange(from: start) }
      if case .film = phase.content { reportPage(from: start) }
      reportShown(phase, from: start)
      if index == 0, name.hasPrefix("start") { reportChange(from: start) }
      start += phase.length
    }
  }

  private func report(_ name: String, _ phase: Phase, from start: Timestamp) {
    let end = start + phase.length
    // A change of the rate has 1.5 s.
    let settled = start + .milliseconds(1500)
    let arrivals = link.arrivals.filter { $0.time >= start && $0.time < end && coded[$0.index].isCaptured }
    let delays = arrivals.filter { $0.captureTime >= settled }.map { $0.delay.seconds * 1000 }.sorted()
    func percentile(_ part: Double) -> String {
      delays.isEmpty ? "–" : fixed(delays[min(delays.count - 1, Int(Double(delays.count) * part))], 0)
    }
    let times = [start] + arrivals.map(\.time)
    let gap = zip(times, times.dropFirst()).map { ($1 - $0).seconds * 1000 }.max() ?? 0
    let own = coded.filter { $0.time >= start && $0.time < end }
    let moving = own.filter(\.isCaptured)
    func mean(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count) }
    let queue = queueMilliseconds.filter { $0.time >= settled && $0.time < end }.map(\.queue).max() ?? 0
    let queueFirst = queueMilliseconds.filter { $0.time >= start && $0.time < settled }.map(\.queue).max() ?? 0
    let bytes = own.reduce(0) { $0 + $1.bytes }
    let delay = "\(percentile(0.5)) / \(percentile(0.95)) / \(percentile(1))"
    let luma = "\(fixed(mean(moving.map(\.psnr)))) (\(fixed(own.last?.psnr ?? 0)))"
    let colour = "\(fixed(mean(moving.map(\.colour)))) (\(fixed(own.last?.colour ?? 0)))"
    let rate = fixed(Double(bytes) * 8 / phase.length.seconds / 1000, 0)
    let frames = fixed(Double(moving.count) / phase.length.seconds)
    let cost = fixed(mean(moving.map(\.milliseconds)))
    if printsTable {
      let marks = [32.0, 40, 44, 48].map { seconds(to: $0, from: start, before: end) }.joined(separator: " / ")
      print(
        "| \(name) at \(phase.rate) kbit/s | \(option("--codec") ?? "vp8") | \(frames) | \(fixed(gap, 0)) | \(delay) |",
        "\(fixed(queue, 0)) | \(rate) | \(luma) | \(colour) | \(cost) | \(bytes / 1000) | \(marks) |")
      return
    }
    print(
      "\(name) at \(phase.rate) kbit/s: \(frames) fps, gap \(fixed(gap, 0)) ms,",
      "delay p50 / p95 / max \(delay) ms,",
      "queue \(fixed(queue, 0)) ms (\(fixed(queueFirst, 0)) at first),",
      "\(rate) kbit/s,",
      "over 300 ms \(fixed(peak(.milliseconds(300), from: settled, to: end, phase), 2)),",
      "1 s \(fixed(peak(.seconds(Int64(1)), from: settled, to: end, phase), 2)),",
      "q \(fixed(mean(moving.map { Double($0.quantizer) }), 0)),",
      "PSNR mean (end) \(luma), RGB \(colour),",
      "\(cost) ms a frame, refinements \(own.count - moving.count)",
      "\(bytes) bytes, \(fixed(own.reduce(0) { $0 + $1.milliseconds }, 0)) ms in all,",
      "last \(own.last.map { fixed(($0.time - start).seconds, 2) } ?? "–") s")
  }

  /// Seconds from the start of a phase until a frame of that quality has arrived; a dash if none does.
  private func seconds(to mark: Double, from start: Timestamp, before end: Timestamp) -> String {
    let first = link.arrivals.first { $0.captureTime >= start && $0.time < end && coded[$0.index].psnr >= mark }
    return first.map { fixed(($0.time - start).seconds, 2) } ?? "–"
  }

  /// The most that was coded in any window, relative to the link's rate.
  private func peak(_ window: TimeDelta, from start: Timestamp, to end: Timestamp, _ phase: Phase) -> Double {
    let own = coded.filter { $0.time >= start && $0.time < end }
    let allowed = Double(BitRate.kilobitsPerSecond(phase.rate).bytes(in: window))
    return own.indices.map { first in
      var sum = 0
      for next in own[first...] where next.time < own[first].time + window { sum += next.bytes }
      return Double(sum) / allowed
    }.max() ?? 0
  }

  /// What the viewer sees how long after a change of everything.
  private func reportChange(from start: Timestamp) {
    var line = "  after the change:"
    var done = false
    for mark in [100, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000] {
      let last = link.arrivals.last { $0.time <= start + .milliseconds(Int64(mark)) && $0.captureTime >= start }
      line += " \(mark) ms \(last.map { fixed(coded[$0.index].psnr) } ?? "–"),"
    }
    for arrival in link.arrivals where arrival.captureTime >= start && coded[arrival.index].psnr >= 32 && !done {
      done = true
      line += " 32 dB at \((arrival.time - start).milliseconds) ms"
    }
    for mark in [40.0, 44, 48] {
      let first = link.arrivals.first { $0.captureTime >= start && coded[$0.index].psnr >= mark }
      line += first.map { " \(fixed(mark, 0)) dB at \(($0.time - start).milliseconds) ms," } ?? ""
    }
    print(line)
  }

  /// How sharp the text beside a film is how long after it began, and the film beside the text.
  private func reportPage(from start: Timestamp) {
    var line = "  the page beside it:"
    for mark in [200, 500, 1000, 2000, 3000, 5000, 8000] {
      let last = link.arrivals.last { $0.time <= start + .milliseconds(Int64(mark)) }.map { coded[$0.index] }
      line += " \(mark) ms \(last.map { fixed($0.page) } ?? "–") (all \(last.map { fixed($0.psnr) } ?? "–")),"
    }
    print(line)
  }

  /// Prints the quality that the viewer saw during a phase, and the cost of encoding it.
  private func reportShown(_ phase: Phase, from start: Timestamp) {
    let own = coded.filter { $0.time >= start && $0.time < start + phase.length }
    guard let first = link.arrivals.firstIndex(where: { coded[$0.index].time >= start }), !own.isEmpty else { return }
    let seen = link.arrivals[first...].filter { coded[$0.index].time < start + phase.length }
    var luma: [(decibels: Double, time: Double)] = []
    for (index, arrival) in seen.enumerated() {
      let end = index + 1 < seen.count ? seen[index + 1].time : start + phase.length
      let frame = coded[arrival.index]
      let decibels = if case .film = phase.content { frame.film } else { frame.page }
      luma.append((decibels, max(0, (end - arrival.time).seconds)))
    }
    let total = luma.reduce(0) { $0 + $1.time }
    let mean = luma.reduce(0) { $0 + $1.decibels * $1.time } / max(0.001, total)
    let fresh = own.filter(\.isCaptured)
    let fine = fresh.map { if case .film = phase.content { $0.film } else { $0.page } }
    let costs = fresh.map(\.milliseconds).sorted()
    print(
      "  shown: luma \(fixed(mean)) dB over time, \(fixed(fine.min() ?? 0)) at worst, of captured frames",
      "\(fixed(fine.reduce(0, +) / Double(max(1, fine.count)))) dB;",
      "\(own.count) frames for \(fresh.count) pictures,",
      "\(fixed(own.reduce(0) { $0 + $1.milliseconds } / phase.length.seconds / 1000, 3)) cores,",
      "p50 \(fixed(costs.isEmpty ? 0 : costs[costs.count / 2])) ms a picture")
  }

  private func reportFrames() {
    for arrival in link.arrivals {
      let frame = coded[arrival.index]
      print(
        frame.time.milliseconds, frame.isCaptured ? "captured" : "refined", frame.bytes, "bytes, q", frame.quantizer,
        fixed(frame.psnr), "dB, arrives after", arrival.delay.milliseconds, "ms, coded in", fixed(frame.milliseconds))
    }
  }
}

let printsTable = CommandLine.arguments.contains("--table")
let names = CommandLine.arguments.dropFirst().filter { scenarios[$0] != nil }
let screen = Screen(folder: option("--pictures"))
let lag = TimeDelta.milliseconds(Int64(option("--lag") ?? "400")!)
let hint = ContentHint(rawValue: option("--hint") ?? "detail")!
for name in names.isEmpty ? scenarios.keys.sorted() : Array(names) {
  let run = try Run(scenarios[name]!, screen: screen, lag: lag, hint: hint)
  try run.run()
  run.report(name, frames: CommandLine.arguments.contains("--frames"))
}
