import RTCMedia
import RTCPrimitives

/// What the payload format says of the pictures that a picture needs.
enum PictureDependency: Hashable {
  /// Nothing: it may need the one before it.
  case unsaid
  /// It stands in temporal layers (RFC 7741 §4.2, RFC 9628 §4.2): `base` counts the pictures of the lowest one, which
  /// need each other only.
  case layered(base: UInt8, temporal: UInt8, isSync: Bool)
  /// It needs the pictures that lie by these differences before number `picture` (RFC 9628, flexible mode).
  case listed(picture: UInt16, differences: [UInt8])
}

/// Remembers what was handed over, and so knows whether the next picture can be decoded.
struct DependencyTracker {
  private var codec: VideoCodec?
  /// The number of the last picture of the lowest layer.
  private var base: UInt8?
  /// Numbers of the last pictures in flexible mode.
  private var pictures: [UInt16] = []

  /// The largest difference that the format can say, and one.
  private static let remembered = 128

  /// - Parameters:
  ///   - isNext: no packet is missing between it and the picture handed over last.
  func canDecode(_ dependency: PictureDependency, codec: VideoCodec, isKeyFrame: Bool, isNext: Bool) -> Bool {
    if isKeyFrame { return true }
    guard codec == self.codec else { return false }
    switch dependency {
    case .unsaid: return isNext
    case .layered(let index, let temporal, let isSync):
      guard let base else { return isNext }
      return temporal == 0 ? index == base &+ 1 : index == base && (isNext || isSync)
    case .listed(let picture, let differences):
      guard !pictures.isEmpty, !differences.isEmpty else { return isNext }
      return differences.allSatisfy { pictures.contains((picture &- UInt16($0)) & 0x7FFF) }
    }
  }

  mutating func handOver(_ dependency: PictureDependency, codec: VideoCodec, isKeyFrame: Bool) {
    if isKeyFrame || codec != self.codec {
      base = nil
      pictures.removeAll(keepingCapacity: true)
    }
    self.codec = codec
    switch dependency {
    case .unsaid: break
    case .layered(let index, let temporal, _): if temporal == 0 || base == nil { base = index }
    case .listed(let picture, _):
      if pictures.count == Self.remembered { pictures.removeFirst() }
      pictures.append(picture & 0x7FFF)
    }
  }
}
