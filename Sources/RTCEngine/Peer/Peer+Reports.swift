import RTCPrimitives
import RTCSRTP
import RTCWire

// MARK: - Reports and other RTCP that leaves

extension Peer {
  static let reportInterval = TimeDelta.seconds(1)
  /// Sender reports, and report blocks, that one compound packet has room for.
  private static let maximumSenderReports = 8
  private static let maximumBlocks = 20

  /// The wall-clock time of `now` as NTP.
  func ntpTime(_ now: Timestamp) -> NTPTimestamp {
    NTPTimestamp(sinceUnixEpoch: (now - .zero) + configuration.wallClockOffset)
  }

  /// Sends a sender report for each stream (or a receiver report, when we send nothing) with our name, in compound packets
  /// (RFC 3550 §6.1, RFC 8108 §5).
  mutating func report(_ now: Timestamp, into outbox: inout Outbox) {
    timers[.report] = now + Self.reportInterval
    var blocks = videos.indices.compactMap { takeReportBlock(ofVideo: $0, now) }
    reportRates(blocks, now: now, into: &outbox)
    blocks += sounds.indices.compactMap { takeReportBlock(ofSound: $0, now) }
    var reports = senderReports(now)
    repeat {
      let some = Array(reports.prefix(Self.maximumSenderReports))
      let about = Array(blocks.prefix(Self.maximumBlocks))
      reports.removeFirst(some.count)
      blocks.removeFirst(about.count)
      sendReports(some, about, into: &outbox)
    } while !reports.isEmpty || !blocks.isEmpty
  }

  private func senderReports(_ now: Timestamp) -> [SenderReport] {
    let time = ntpTime(now)
    var reports: [SenderReport] = []
    for video in videos where video.hasSent && video.isSending {
      guard let sender = video.sender else { continue }
      reports.append(
        SenderReport(
          sender: video.identity.ssrc, ntpTime: time, rtpTime: sender.rtpTimestamp(now),
          packetCount: UInt32(truncatingIfNeeded: sender.statistics.packetsSent),
          octetCount: UInt32(truncatingIfNeeded: sender.statistics.payloadBytesSent)))
    }
    for sound in sounds where sound.hasSent && sound.isSending {
      guard let sender = sound.sender, let rtpTime = sender.rtpTimestamp(at: now) else { continue }
      reports.append(
        SenderReport(
          sender: sound.identity.ssrc, ntpTime: time, rtpTime: rtpTime,
          packetCount: UInt32(truncatingIfNeeded: sender.statistics.packetsSent),
          octetCount: UInt32(truncatingIfNeeded: sender.statistics.payloadBytesSent)))
    }
    return reports
  }

  private mutating func sendReports(_ reports: [SenderReport], _ blocks: [ReportBlock], into outbox: inout Outbox) {
    sendRTCP(into: &outbox) { peer, writer in
      let name = peer.primary.cname
      guard let first = reports.first else {
        ReceiverReport(sender: peer.primary.ssrc).write(into: &writer, reports: blocks.span)
        SourceDescription(source: peer.primary.ssrc, canonicalName: name).write(into: &writer)
        return
      }
      first.write(into: &writer, reports: blocks.span)
      for report in reports.dropFirst() { report.write(into: &writer) }
      for report in reports { SourceDescription(source: report.sender, canonicalName: name).write(into: &writer) }
    }
  }

  /// Writes one RTCP compound with `body` and sends it protected.
  mutating func sendRTCP(into outbox: inout Outbox, _ body: (borrowing Peer, inout ByteWriter) -> Void) {
    guard isSecured, let route = ice.selectedRoute else { return }
    outbox.datagrams.append(to: route) { datagram in
      var writer = ByteWriter(datagram._mutatingExtracting(0..<VideoSendStream.maximumPacketSize))
      body(self, &writer)
      let count = writer.offset
      guard count > 0 else { return 0 }
      return (try? srtp!.protectRTCP(&datagram, count: count)) ?? 0
    }
  }

  /// Says goodbye for all we send (RFC 3550 §6.6).
  mutating func sendGoodbye(into outbox: inout Outbox) {
    let sources = [primary.ssrc] + videos.filter { $0.hasSent && $0.identity.ssrc != primary.ssrc }.map(\.identity.ssrc)
    sendGoodbye(sources + sounds.filter(\.hasSent).map(\.identity.ssrc), into: &outbox)
  }

  mutating func sendGoodbye(_ sources: [SSRC], into outbox: inout Outbox) {
    let sources = Array(sources.prefix(31))
    sendRTCP(into: &outbox) { peer, writer in
      ReceiverReport(sender: peer.primary.ssrc).write(into: &writer)
      Goodbye.write(sources.span, into: &writer)
    }
  }
}
