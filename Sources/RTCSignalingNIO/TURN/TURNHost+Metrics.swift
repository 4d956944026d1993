import RTCSignaling
import RTCTURN

extension TURNHost {
  /// The figures of the server for Prometheus; none once it has ended.
  func metrics() async -> [CastMetric] {
    guard let counters = await counters() else { return [] }
    func amounts(_ value: (TURNServerCounters.Amount) -> Int) -> [CastMetric.Sample] {
      [
        CastMetric.Sample(value(counters.toPeers), "to", "peer"),
        CastMetric.Sample(value(counters.toClients), "to", "client"),
      ]
    }
    return [
      CastMetric("rtcast_turn_allocations", .gauge, "Relayed addresses in use.", counters.allocations),
      CastMetric("rtcast_turn_allocations_total", .counter, "Relayed addresses given out.", counters.allocationsMade),
      CastMetric("rtcast_turn_relayed_bytes_total", .counter, "Bytes of data relayed.", amounts(\.bytes)),
      CastMetric("rtcast_turn_relayed_packets_total", .counter, "Packets of data relayed.", amounts(\.datagrams)),
      CastMetric(
        "rtcast_turn_dropped_packets_total", .counter, "Packets dropped, by reason.",
        [
          CastMetric.Sample(counters.dropsUnpermitted, "reason", "permission"),
          CastMetric.Sample(counters.dropsOverRate, "reason", "bandwidth"),
          CastMetric.Sample(counters.dropsFull, "reason", "queue"),
          CastMetric.Sample(counters.dropsInvalid, "reason", "invalid"),
        ]),
      CastMetric(
        "rtcast_turn_refusals_total", .counter, "TURN requests refused, by error code.",
        TURNServerCounters.codes.map { CastMetric.Sample(counters.refusals(with: $0), "code", "\($0)") }),
    ]
  }
}
