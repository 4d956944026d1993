package import RTCPrimitives
package import RTCWire

/// Schedules and writes sender and receiver reports and other RTCP, and measures the round-trip time from those of the
/// remote peer.
package struct RTCPReporter {
  package static let interval = TimeDelta.seconds(1)
  /// Sender reports, and report blocks, that one compound packet has room for.
  private static let maximumSenderReports = 8
  private static let maximumBlocks = 20
  private static let maximumGoodbyes = 31

  /// Wall clock minus monotonic clock, from 1970.
  private let wallClockOffset: TimeDelta
  /// When the next reports are due; `.distantFuture` before the transport is secured.
  package private(set) var nextDeadline = Timestamp.distantFuture
  /// By the remote peer's reports; nil before the first.
  package private(set) var roundTripTime: TimeDelta?

  package init(wallClockOffset: TimeDelta) { self.wallClockOffset = wallClockOffset }

  package mutating func start(_ now: Timestamp) { nextDeadline = now + .milliseconds(500) }
  package mutating func reportsSent(_ now: Timestamp) { nextDeadline = now + Self.interval }
  package mutating func end() { nextDeadline = .distantFuture }
  /// The path has changed, and with it the round-trip time.
  package mutating func routeChanged() { roundTripTime = nil }

  /// The wall-clock time of `now` as NTP.
  package func ntpTime(_ now: Timestamp) -> NTPTimestamp {
    NTPTimestamp(sinceUnixEpoch: (now - .zero) + wallClockOffset)
  }

  /// Takes a report block on one of our streams.
  /// - Returns: the round-trip time in it.
  package mutating func receive(_ block: ReportBlock, now: Timestamp) -> TimeDelta? {
    guard let roundTrip = block.roundTripTime(arrival: ntpTime(now)) else { return nil }
    roundTripTime = roundTrip
    return roundTrip
  }

  /// Sends a sender report for each stream (or a receiver report, when we send nothing) with our name, in compound packets
  /// (RFC 3550 §6.1, RFC 8108 §5).
  package func send(
    _ reports: [SenderReport], _ blocks: [ReportBlock], from identity: SendStreamIdentity,
    over transport: inout Transport, into batch: inout DatagramBatch
  ) {
    var (reports, blocks) = (reports[...], blocks[...])
    repeat {
      let some = reports.prefix(Self.maximumSenderReports)
      let about = Array(blocks.prefix(Self.maximumBlocks))
      reports.removeFirst(some.count)
      blocks.removeFirst(about.count)
      transport.sendRTCP(into: &batch) { writer in
        if let first = some.first {
          first.write(into: &writer, reports: about.span)
          for report in some.dropFirst() { report.write(into: &writer) }
        } else {
          ReceiverReport(sender: identity.ssrc).write(into: &writer, reports: about.span)
        }
        for source in some.isEmpty ? [identity.ssrc] : some.map(\.sender) {
          SourceDescription(source: source, canonicalName: identity.cname).write(into: &writer)
        }
      }
    } while !reports.isEmpty || !blocks.isEmpty
  }

  /// Says goodbye for `sources` (RFC 3550 §6.6).
  package func sendGoodbye(
    _ sources: [SSRC], from sender: SSRC, over transport: inout Transport, into batch: inout DatagramBatch
  ) {
    let sources = Array(sources.prefix(Self.maximumGoodbyes))
    transport.sendRTCP(into: &batch) { writer in
      ReceiverReport(sender: sender).write(into: &writer)
      Goodbye.write(sources.span, into: &writer)
    }
  }

  /// Asks a remote sender for packets and a key frame.
  package func send(
    _ requests: VideoReceiver.Requests, to media: SSRC, from sender: SSRC, over transport: inout Transport,
    into batch: inout DatagramBatch
  ) {
    var rest = requests.packets
    while !rest.isEmpty {
      var written = 0
      transport.sendRTCP(into: &batch) { writer in
        written = GenericNACK.write(sender: sender, media: media, lost: rest.span, into: &writer)
      }
      guard written > 0 else { break }
      rest.removeFirst(written)
    }
    guard let keyFrame = requests.keyFrame else { return }
    transport.sendRTCP(into: &batch) { writer in
      switch keyFrame {
      case .pictureLoss: PictureLossIndication(sender: sender, media: media).write(into: &writer)
      case .fullIntra(let number):
        FullIntraRequest.write(
          sender: sender, FullIntraRequest.Entry(media: media, commandSequenceNumber: number), into: &writer)
      }
    }
  }

  /// Sends the receiver's bandwidth estimate to a sender without transport-wide feedback (REMB).
  package func send(
    _ estimate: BitRate, for media: SSRC, from sender: SSRC, over transport: inout Transport,
    into batch: inout DatagramBatch
  ) {
    let sources = [media]
    transport.sendRTCP(into: &batch) { writer in
      ReceiverEstimatedMaximumBitRate.write(sender: sender, bitRate: estimate, sources: sources.span, into: &writer)
    }
  }
}
