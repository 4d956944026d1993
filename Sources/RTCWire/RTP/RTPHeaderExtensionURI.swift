/// The header extensions this stack understands, by the URI that SDP's `a=extmap` names (RFC 8285 §5).
public enum RTPHeaderExtensionURI: String, Hashable, Sendable, CaseIterable, BitwiseCopyable {
  /// Media identification (RFC 9143 §15).
  case mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
  /// RTP stream identifier (RFC 8852 §3.1).
  case rid = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
  /// The stream that a retransmission stream repairs (RFC 8852 §3.2).
  case repairedRid = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
  case absSendTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
  case transportSequenceNumber = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
  case videoContentType = "http://www.webrtc.org/experiments/rtp-hdrext/video-content-type"
  case playoutDelay = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
  /// Coordination of video orientation (3GPP TS 26.114 §7.4.5).
  case videoOrientation = "urn:3gpp:video-orientation"
  case absCaptureTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
  /// Client-to-mixer audio level (RFC 6464).
  case audioLevel = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
  case colorSpace = "http://www.webrtc.org/experiments/rtp-hdrext/color-space"

  /// A dense index for tables: the position in `allCases`.
  var slot: Int {
    switch self {
    case .mid: 0
    case .rid: 1
    case .repairedRid: 2
    case .absSendTime: 3
    case .transportSequenceNumber: 4
    case .videoContentType: 5
    case .playoutDelay: 6
    case .videoOrientation: 7
    case .absCaptureTime: 8
    case .audioLevel: 9
    case .colorSpace: 10
    }
  }
}

extension RTPHeaderExtensionURI: CustomStringConvertible {
  /// The URI.
  public var description: String { rawValue }
}
