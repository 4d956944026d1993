/// The reasons a peer may want to be woken, each the next deadline of one of its machines.
package enum PeerTimer: CaseIterable, Hashable, Sendable {
  /// ICE checks, consent and keep-alive; DTLS retransmission; the time limit of connecting.
  case transport
  /// The pacer may send its next packets.
  case pacer
  /// The first picture has waited long enough for the first probes.
  case firstMeasurement
  /// Sender and receiver reports.
  case reports
  /// The bandwidth estimate.
  case rate
  /// An audio sender's own bitrate.
  case audioSender
  /// Missing packets or a key frame are asked for again, or given up.
  case videoReceiver
  /// Transport-wide feedback to the sender.
  case feedback
  /// The last packets may be lost without the viewer's knowing; a source may be asked for another key frame.
  case videoSender
  /// SCTP: retransmissions, delayed acknowledgements, heartbeats.
  case dataChannels
}
