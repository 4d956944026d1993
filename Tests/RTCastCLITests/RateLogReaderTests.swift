import RTCEngine
import RTCPrimitives
import RTCast
import Testing
import rtcast_cli

/// `rtcast rtc-log` with valid and invalid files.
@Suite struct RateLogReaderTests {
  private static let opened =
    #"{"t_ms":0,"viewer":"a","event":"opened","rate_control":"stepped","origin_s":5,"minimum_bps":100000,"#
    + #""maximum_bps":6000000,"start_bps":1000000,"step_up":0.15,"step_down":0.15,"critical_step_down":0.25,"#
    + #""critical_loss":0.1,"high_loss":0.05,"low_loss":0.01}"# + "\n"

  private static func line(_ time: Int64, _ entry: RateLogEntry, viewer: String = "a") -> String {
    RateLogLine(time: .zero + .milliseconds(time), connection: viewer, content: .entry(entry)).text + "\n"
  }

  private static func read(_ text: String) -> RateLogReader {
    var reader = RateLogReader()
    reader.take(text.utf8)
    reader.end()
    return reader
  }

  private static func feedback(_ packets: [(number: Int64, sent: Int64, arrival: Int64?)], late: Bool = false)
    -> RateLogEntry
  {
    .feedback(
      packets.map {
        PacketResult(
          packet: SentPacket(number: $0.number, sendTime: .zero + .milliseconds($0.sent), size: 1_000, kind: .video),
          arrival: $0.arrival.map { .milliseconds($0) }, wasReportedLost: late)
      }, SendActivity())
  }

  @Test func `bad lines are named by number, and the others count`() {
    let text =
      Self.opened + "not JSON\n\n" + Self.line(20, .roundTrip(.milliseconds(30))) + Self.line(10, .routeChanged)
      + Self.line(30, .roundTrip(.milliseconds(40)), viewer: "b") + Self.opened
    let reader = Self.read(text)
    #expect(reader.badLines.map(\.number) == [2, 5, 6, 7])
    #expect(reader.badLineCount == 4)
    #expect(reader.connections.map(\.series.id) == ["a"])
    #expect(reader.connections.first?.series.roundTrips.map(\.milliseconds) == [30])
    #expect(reader.connections.first?.gap == 2)
  }

  @Test func `a line that was cut off at the end of the file is named`() {
    let reader = Self.read(Self.opened + String(Self.line(20, .routeChanged).dropLast(4)))
    #expect(reader.badLines.map(\.number) == [2])
    #expect(reader.badLines.first?.problem.hasPrefix("it is not JSON") == true)
  }

  @Test func `many bad lines are counted, the first are named`() {
    let reader = Self.read(String(repeating: "x\n", count: 1_000))
    #expect(reader.badLines.map(\.number) == Array(1...RateLogReader.keptBadLines))
    #expect(reader.badLineCount == 1_000)
  }

  @Test func `a line without end does not fill the memory`() {
    let reader = Self.read(String(repeating: "x", count: RateLogReader.longestLine + 10) + "\n" + Self.opened)
    #expect(reader.badLines.map(\.number) == [1])
    #expect(reader.connections.count == 1)
  }

  @Test func `a dropped entry is a gap of every viewer`() {
    let dropped = RateLogLine(time: .zero, connection: "", content: .dropped(7)).text + "\n"
    let reader = Self.read(Self.opened + dropped)
    #expect(reader.badLineCount == 0)
    #expect(reader.connections.first?.gap == 2)
  }

  @Test func `loss and delay are taken from the packets, and what was only late is no loss`() {
    let text =
      Self.opened + Self.line(100, Self.feedback([(1, 0, 1_000), (2, 10, nil), (3, 20, 1_050), (4, 30, nil)]))
      + Self.line(200, Self.feedback([(2, 10, 1_210)], late: true))
    let series = Self.read(text).connections[0].series
    #expect(series.losses().map(\.loss) == [0.25])
    #expect(series.delays().map(\.milliseconds).map { Int($0.rounded()) } == [0, 30, 200])
  }

  @Test func `what was sent is drawn as a rate`() {
    var early = SendActivity()
    early.sentBytes = 1_000
    var late = SendActivity()
    late.sentBytes = 126_000
    let reader = Self.read(Self.opened + Self.line(0, .deadline(early)) + Self.line(1_000, .deadline(late)))
    #expect(reader.connections[0].series.sentRates().map(\.rate) == [1_000_000])
  }

  @Test func `the picture shows every part that is there, its reasons, and what the path bore`() {
    var first = NetworkEstimate(target: .megabitsPerSecond(1), pacingRate: .megabitsPerSecond(2), burst: 1)
    first.delayBased = .megabitsPerSecond(1)
    var second = first
    second.target = .kilobitsPerSecond(500)
    second.reason = .overuse
    second.queueingDelay = .milliseconds(80)
    let probe = RateLogEntry.probe(ProbeCluster(id: 1, rate: .megabitsPerSecond(3)))
    let text =
      Self.opened + Self.line(0, .estimate(first)) + Self.line(500, probe) + Self.line(2_000, .estimate(second))
      + Self.line(3_000, Self.feedback([(1, 0, 10), (2, 1_000, nil)]))
    let svg = RateChart.svg(
      Self.read(text).connections.map(\.series),
      capacity: RateChart.Schedule([RateChart.Schedule.Step(time: 0, rate: 2e6)]))
    for word in [
      "target", "delay-based", "probes", "capacity", "delay grows", "queueing delay", "loss of packets", "3 s",
    ] {
      #expect(svg.contains(">" + word) || svg.contains(word + "<"), "\(word)")
    }
    #expect(svg.contains("stepped"))
    #expect(!svg.contains(">acknowledged<"))
    #expect(!svg.contains("nan") && !svg.contains("inf") && !svg.contains("–"))
  }

  @Test func `the name of a viewer cannot break out of the picture`() {
    let series = RateSeries(id: "<script>&\"\u{1B}", algorithm: .gcc, began: .zero)
    let svg = RateChart.svg([series])
    #expect(svg.contains("&lt;script&gt;&amp;&quot;") && !svg.contains("<script"))
    #expect(!svg.unicodeScalars.contains("\u{1B}"))
  }

  @Test(arguments: ["", "0", "0:", ":5M", "0:5M,", "-1:5M", "0:nan", "0:5X"])
  func `a schedule of capacity that is none is refused`(text: String) {
    #expect(throws: (any Error).self) { try RateChart.Schedule(text: text) }
  }

  @Test func `a schedule of capacity is read, outages included`() throws {
    let schedule = try RateChart.Schedule(text: "20:600k,0:5M,40:0")
    #expect(schedule.steps.map(\.time) == [0, 20, 40])
    #expect(schedule.steps.map(\.rate) == [5e6, 6e5, 0])
  }
}
