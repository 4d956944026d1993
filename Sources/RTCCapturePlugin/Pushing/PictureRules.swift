import CRTCastPlugin
import RTCMedia
import RTCPrimitives

/// A picture of which every number was looked at.
@safe
struct CheckedPicture {
  var format: PixelFormat
  var size: PixelSize
  var planes: [(base: UnsafeRawPointer, stride: Int)]
  var rotation: VideoRotation
  var colorSpace: ColorSpace
  var damage: [PixelRect]?
  /// The damage named made no sense and became "everything".
  var hasBadDamage: Bool
}

/// The requirements of `rtcast_plugin.h` for a picture.
enum PictureRules {
  static let sides = 2...16_384
  /// Far more than any row takes; keeps sums of sizes far from overflow.
  private static let longestStride: Int64 = 1 << 20
  /// More rectangles than this are as good as everything.
  private static let mostRectangles: UInt32 = 256

  static func check(_ picture: rtcast_picture) throws(PluginFault) -> CheckedPicture {
    guard unsafe picture.struct_size >= MemoryLayout<rtcast_picture>.size else { throw .structSize }
    let (format, size) = unsafe try shape(picture)
    let planes = unsafe try planes(of: picture, format, size)
    guard let rotation = unsafe VideoRotation(rawValue: Int(picture.rotation)) else { throw .unknownRotation }
    let colorSpace = unsafe try colorSpace(picture.color_space, format)
    let (damage, isBad) = unsafe damage(picture, in: size)
    return unsafe CheckedPicture(
      format: format, size: size, planes: planes, rotation: rotation, colorSpace: colorSpace, damage: damage,
      hasBadDamage: isBad)
  }

  /// The part that a request for a buffer has as well.
  static func shape(_ picture: rtcast_picture) throws(PluginFault) -> (PixelFormat, PixelSize) {
    guard unsafe picture.struct_size >= MemoryLayout<rtcast_picture>.size else { throw .structSize }
    guard let format = unsafe PixelFormat(pluginNumber: picture.format) else { throw .unknownPixelFormat }
    let size = unsafe PixelSize(width: Int(picture.width), height: Int(picture.height))
    guard sides.contains(size.width), sides.contains(size.height) else { throw .impossibleSize }
    return (format, size)
  }

  private static func planes(
    of picture: rtcast_picture, _ format: PixelFormat, _ size: PixelSize
  ) throws(PluginFault) -> [(base: UnsafeRawPointer, stride: Int)] {
    let given = unsafe [picture.planes.0, picture.planes.1, picture.planes.2]
    var planes: [(base: UnsafeRawPointer, stride: Int)] = unsafe []
    for index in 0..<format.planeCount {
      guard let data = unsafe given[index].data else { throw .missingPlane }
      let stride = unsafe given[index].stride
      guard stride >= Int64(format.planeExtent(index, of: size).rowBytes), stride <= longestStride else {
        throw .shortStride
      }
      unsafe planes.append((UnsafeRawPointer(data), Int(stride)))
    }
    return unsafe planes
  }

  private static func colorSpace(_ number: UInt32, _ format: PixelFormat) throws(PluginFault) -> ColorSpace {
    let isRGB = format == .bgra || format == .rgba
    switch Int(number) {
    case RTCAST_COLOR_DEFAULT: return isRGB ? .sRGB : .bt601Limited
    case RTCAST_COLOR_BT601_LIMITED where !isRGB: return .bt601Limited
    case RTCAST_COLOR_BT709_LIMITED where !isRGB: return .bt709Limited
    case RTCAST_COLOR_SRGB where isRGB: return .sRGB
    default: throw .unknownColorSpace
    }
  }

  private static func damage(_ picture: rtcast_picture, in size: PixelSize) -> (rects: [PixelRect]?, isBad: Bool) {
    guard let start = unsafe picture.damage else { return (nil, false) }
    guard unsafe picture.damage_count <= mostRectangles else { return (nil, false) }
    var rects: [PixelRect] = []
    for index in unsafe 0..<Int(picture.damage_count) {
      let raw = unsafe start[index]
      let rect = PixelRect(x: Int(raw.x), y: Int(raw.y), width: Int(raw.width), height: Int(raw.height))
      guard rect.x >= 0, rect.y >= 0, rect.width >= 0, rect.height >= 0, rect.maxX <= size.width,
        rect.maxY <= size.height
      else { return (nil, true) }
      if !rect.isEmpty { rects.append(rect) }
    }
    return (rects, false)
  }
}

extension PixelFormat {
  init?(pluginNumber number: UInt32) {
    switch Int(number) {
    case RTCAST_I420: self = .i420
    case RTCAST_I444: self = .i444
    case RTCAST_NV12: self = .nv12
    case RTCAST_BGRA: self = .bgra
    case RTCAST_RGBA: self = .rgba
    default: return nil
    }
  }

  var pluginNumber: UInt32 {
    switch self {
    case .i420: UInt32(RTCAST_I420)
    case .i444: UInt32(RTCAST_I444)
    case .nv12: UInt32(RTCAST_NV12)
    case .bgra: UInt32(RTCAST_BGRA)
    case .rgba: UInt32(RTCAST_RGBA)
    }
  }
}
