import RTCPeer
import RTCSignaling

extension Broadcast {
  /// The figures of a cast for Prometheus. They count from the start of the program, so that asking changes none.
  static func metrics(of media: OutgoingMedia, _ peers: PeerLoop) async -> [CastMetric] {
    let encoding = media.video.statistics()
    var metrics = [
      CastMetric("rtcast_frames_captured_total", .counter, "Pictures taken from the source.", encoding.framesCaptured),
      CastMetric("rtcast_frames_encoded_total", .counter, "Frames encoded for viewers.", encoding.framesEncoded),
      CastMetric(
        "rtcast_frames_left_out_total", .counter, "Pictures that became no frame.",
        [
          CastMetric.Sample(encoding.leftOut.busy, "reason", "busy"),
          CastMetric.Sample(encoding.leftOut.bitrate, "reason", "bitrate"),
          CastMetric.Sample(encoding.leftOut.unchanged, "reason", "unchanged"),
          CastMetric.Sample(encoding.leftOut.exact, "reason", "exact"),
        ]),
      CastMetric("rtcast_key_frames_total", .counter, "Key frames encoded.", encoding.keyFrames),
      CastMetric(
        "rtcast_processor_seconds_total", .counter, "Processor time of this program.",
        [CastMetric.Sample(ProcessorTime.now().seconds)]),
    ]
    guard let network = await peers.networkCounters() else { return metrics }
    metrics += [
      CastMetric("rtcast_sent_bytes_total", .counter, "Bytes of media sent by UDP.", network.sentBytes),
      CastMetric("rtcast_sent_datagrams_total", .counter, "Datagrams sent.", network.sentDatagrams),
      CastMetric("rtcast_received_bytes_total", .counter, "Bytes received by UDP.", network.receivedBytes),
      CastMetric("rtcast_received_datagrams_total", .counter, "Datagrams received.", network.receivedDatagrams),
      CastMetric(
        "rtcast_datagrams_dropped_total", .counter, "Datagrams lost on this machine.",
        [
          CastMetric.Sample(network.droppedFull, "reason", "send_queue_full"),
          CastMetric.Sample(network.droppedRefused, "reason", "refused"),
          CastMetric.Sample(network.receiveQueueDrops, "reason", "receive_queue_full"),
          CastMetric.Sample(network.malformedDatagrams, "reason", "malformed"),
        ]),
    ]
    return metrics
  }
}
