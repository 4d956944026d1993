import RTCEngine
import RTCPeer
import RTCSignaling

extension WHEPRefusal {
  /// What a client is told of why its offer came to nothing.
  /// - Parameter codecs: the video codecs that would have done.
  init(_ error: any Error, codecs: String) {
    switch error {
    case let failure as NegotiationFailure:
      switch failure.kind {
      case .malformed: self = .malformedOffer(failure.sentence)
      case .noCommonCodec: self = .noCommonCodec(offered: codecs)
      case .unsupported, .wrongState: self = .unusableOffer(failure.sentence)
      }
    case let full as TooManyPeers: self = .tooManyViewers(limit: full.limit)
    default: self = .failed("\(error)")
    }
  }
}

extension PeerConnection {
  /// Takes a trickled fragment.
  func patch(_ fragment: String) async throws(WHEPRefusal) -> WHEPPatchResult {
    do {
      try addRemoteCandidates(fragment)
      return .noContent
    } catch let failure as NegotiationFailure where failure.kind == .malformed {
      throw .malformedFragment(failure.sentence)
    } catch let failure as NegotiationFailure where failure.kind == .unsupported {
      throw .unusableOffer(failure.sentence)
    } catch {
      throw .noSuchSession
    }
  }
}
