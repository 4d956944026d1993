import RTCMedia
import RTCPrimitives
import RTCWire

/// The dependencies of a frame in the payload format.
enum FrameDependency: Hashable, BitwiseCopyable {
  /// Unknown: it may depend on the frame before.
  case unsaid
  /// The frame belongs to a temporal layer (RFC 7741 §4.2, RFC 9628 §4.2): `base` counts the frames of the lowest
  /// layer, which depend on each other only. A frame with `isSync` depends on the last of those only: VP8 signals that.
  /// U of VP9 does not, as it concerns the frames after it.
  case layered(base: UInt8, temporal: UInt8, isSync: Bool)
  /// The frame depends on the frames at these differences before number `picture` (RFC 9628, flexible mode).
  case listed(picture: VP9PictureID, differences: VP9References)

  init(_ descriptor: VP8PayloadDescriptor) {
    if let layer = descriptor.temporalLayer, let base = descriptor.baseLayerIndex {
      self = .layered(base: base, temporal: layer.index, isSync: layer.isSync)
    } else {
      self = .unsaid
    }
  }

  init(_ descriptor: VP9PayloadDescriptor) {
    if descriptor.isFlexible, let picture = descriptor.pictureID {
      self = .listed(picture: picture, differences: descriptor.references)
    } else if let layer = descriptor.layer, let base = layer.baseLayerIndex {
      self = .layered(base: base, temporal: layer.temporal, isSync: false)
    } else {
      self = .unsaid
    }
  }
}

/// Remembers the delivered frames, and thus whether the next frame can be decoded.
struct DependencyTracker {
  private var codec: VideoCodec?
  /// The number of the last frame of the lowest layer.
  private var base: UInt8?
  /// A frame is missing between that one and the last.
  private var hasGap = false
  /// Frames that were left out since the last one.
  private var leftOut = 0
  /// Numbers of the last frames in flexible mode.
  private var pictures: [VP9PictureID] = []

  /// The largest difference that the format can say, and one.
  private static let remembered = 128

  /// More than any pattern of layers has between two frames of the lowest layer; a sender beyond it signals nonsense.
  private static let mostLeftOut = 32

  /// - Parameters:
  ///   - isNext: no packet is missing between it and the last delivered frame.
  func canDecode(_ dependency: FrameDependency, codec: VideoCodec, isKeyFrame: Bool, isNext: Bool) -> Bool {
    if isKeyFrame { return true }
    guard codec == self.codec else { return false }
    switch dependency {
    case .unsaid: return isNext
    case .layered(let index, let temporal, let isSync):
      guard let base else { return isNext }
      return temporal == 0 ? index == base &+ 1 : index == base && (isSync || isNext && !hasGap)
    case .listed(let picture, let differences):
      guard !pictures.isEmpty, !differences.isEmpty else { return isNext }
      return differences.allSatisfy { pictures.contains(VP9PictureID(picture.value &- UInt16($0))) }
    }
  }

  /// True for a frame of an upper layer, which only others of upper layers need: without it the next of the lowest can be
  /// decoded.
  func canLeaveOut(_ dependency: FrameDependency, codec: VideoCodec) -> Bool {
    guard codec == self.codec, case .layered(let index, let temporal, _) = dependency else { return false }
    return temporal > 0 && index == base && leftOut < Self.mostLeftOut
  }

  /// A frame that came is left out.
  mutating func leaveOut() {
    leftOut += 1
    hasGap = true
  }

  /// Frames before the next are done without.
  mutating func noteGap() { hasGap = true }

  mutating func handOver(_ dependency: FrameDependency, codec: VideoCodec, isKeyFrame: Bool) {
    if isKeyFrame || codec != self.codec {
      base = nil
      hasGap = false
      pictures.removeAll(keepingCapacity: true)
    }
    self.codec = codec
    leftOut = 0
    switch dependency {
    case .unsaid: break
    case .layered(let index, let temporal, _):
      guard temporal == 0 || base == nil else { break }
      base = index
      hasGap = false
    case .listed(let picture, _):
      if pictures.count == Self.remembered { pictures.removeFirst() }
      pictures.append(picture)
    }
  }
}
