import RTCEngine
import RTCPeer
import RTCSignaling

extension WHEPRefusal {
  /// Makes the refusal of an offer that could not be negotiated.
  /// - Parameter codecs: the video codecs that are supported.
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
  /// Takes a fragment: candidates, or a restart of ICE. In one step on the loop, so that no two restarts cross.
  func patch(
    _ fragment: String, etag: String?, _ generation: ICEGeneration
  ) throws(WHEPRefusal) -> WHEPPatchResult {
    let restarts = try generation.restarts(with: fragment, etag: etag)
    do {
      guard restarts, let ours = try apply(fragment: fragment) else {
        try addRemoteCandidates(fragment)
        return .noContent
      }
      generation.advance(to: fragment)
      return .restarted(fragment: ours, etag: generation.etag)
    } catch let failure as NegotiationFailure where failure.kind == .malformed {
      throw .malformedFragment(failure.sentence)
    } catch let failure as NegotiationFailure where failure.kind == .unsupported {
      throw .unusableOffer(failure.sentence)
    } catch {
      throw .noSuchSession
    }
  }

  /// Takes the answer to our offer.
  func take(answer: String, _ generation: ICEGeneration) throws(WHEPRefusal) {
    guard signalingState == .haveLocalOffer else { throw .noOffer }
    do {
      try accept(answer: answer)
      generation.note(answer: answer)
    } catch let failure as NegotiationFailure {
      throw .unusableAnswer(failure.sentence)
    } catch {
      throw .noSuchSession
    }
  }
}
