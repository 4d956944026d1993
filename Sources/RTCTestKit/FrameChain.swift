package import RTCEngine

/// A viewer's decoding of the frames that reached it.
package struct FrameChain: Sendable {
  /// The source's numbers of the frames, in order of arrival.
  package private(set) var numbers: [UInt64] = []
  /// Intact key frames that arrived in order.
  package private(set) var keyFrames = 0
  /// Frames whose bytes are not what left, or that came twice or out of order.
  package private(set) var damaged = 0
  /// Frames that are not key frames and whose predecessor was not delivered: a decoder would show garbage.
  package private(set) var undecodable = 0

  /// Judges frames of `SyntheticVideo`, in order of arrival.
  package init(_ frames: [ReceivedFrame]) {
    for frame in frames {
      guard let number = SyntheticVideo.number(of: frame.data, isKeyFrame: frame.isKeyFrame, codec: frame.codec),
        numbers.last.map({ $0 < number }) ?? true
      else {
        damaged += 1
        continue
      }
      if frame.isKeyFrame {
        keyFrames += 1
      } else if numbers.last.map({ $0 + 1 }) != number {
        undecodable += 1
      }
      numbers.append(number)
    }
  }

  /// True when no frame was damaged and each could have been decoded.
  package var isSound: Bool { damaged == 0 && undecodable == 0 }
}
