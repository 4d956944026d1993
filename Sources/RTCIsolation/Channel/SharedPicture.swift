package import RTCMedia
package import RTCPrimitives

/// A picture in shared memory, as one process describes it to the other.
package struct SharedPicture {
  /// No picture has longer sides, where nothing else is said.
  package static let sides = 1...16_384

  package var slot: UInt8
  package var format: PixelFormat
  package var size: PixelSize
  package var planes: [(offset: Int, stride: Int)]
  package var captureTime: Timestamp
  package var rotation: VideoRotation
  package var colorSpace: ColorSpace
  package var damage: [PixelRect]?
  /// It was copied into the shared memory.
  package var isCopy: Bool

  /// - Parameter offsets: where each plane starts in the memory of `slot`.
  package init(_ frame: VideoFrame, slot: UInt8, offsets: [Int], strides: [Int], isCopy: Bool) {
    self.slot = slot
    format = frame.buffer.format
    size = frame.size
    planes = zip(offsets, strides).map { ($0, $1) }
    captureTime = frame.captureTime
    rotation = frame.rotation
    colorSpace = frame.colorSpace
    damage = frame.damage
    self.isCopy = isCopy
  }

  /// A decoded picture: without a time, and with all of it changed.
  package init(
    _ buffer: PixelBuffer, _ colorSpace: ColorSpace, slot: UInt8, planes: [(offset: Int, stride: Int)]
  ) {
    self.slot = slot
    format = buffer.format
    size = buffer.size
    self.planes = planes
    captureTime = .zero
    rotation = .none
    self.colorSpace = colorSpace
    isCopy = false
  }

  package func write(to writer: inout MessageWriter) {
    writer.write(slot)
    writer.write(format.channelNumber)
    writer.write(size.width)
    writer.write(size.height)
    for plane in planes {
      writer.write(plane.offset)
      writer.write(plane.stride)
    }
    writer.write(captureTime.nanoseconds)
    writer.write(rotation.rawValue)
    writer.write(colorSpace.number)
    writer.write(isCopy)
    writer.write(damage.map { $0.count } ?? -1)
    for rect in damage ?? [] {
      writer.write(rect.x)
      writer.write(rect.y)
      writer.write(rect.width)
      writer.write(rect.height)
    }
  }

  /// Nil when anything in it breaks the rules; where the planes lie is for `planesFit` to say.
  package init?(reading reader: inout ByteReader, sides: ClosedRange<Int> = SharedPicture.sides) {
    guard let slot = reader.readUInt8(),
      let format = reader.readUInt8().flatMap({ PixelFormat(channelNumber: $0) }),
      let width = reader.readInt(), let height = reader.readInt(), sides.contains(width),
      sides.contains(height)
    else { return nil }
    self.slot = slot
    self.format = format
    size = PixelSize(width: width, height: height)
    planes = []
    for _ in 0..<format.planeCount {
      guard let offset = reader.readInt(), let stride = reader.readInt() else { return nil }
      planes.append((offset, stride))
    }
    guard let time = reader.readInt64(), let rotation = reader.readInt().flatMap({ VideoRotation(rawValue: $0) }),
      let colorSpace = reader.readUInt8().flatMap({ ColorSpace(number: $0) }), let isCopy = reader.readBool(),
      let count = reader.readInt(), (-1...256).contains(count)
    else { return nil }
    captureTime = Timestamp(nanoseconds: time)
    self.rotation = rotation
    self.colorSpace = colorSpace
    self.isCopy = isCopy
    guard count >= 0 else {
      damage = nil
      return
    }
    var rects: [PixelRect] = []
    for _ in 0..<count {
      guard let x = reader.readInt(), let y = reader.readInt(), let width = reader.readInt(),
        let height = reader.readInt(), (0...size.width).contains(x), (0...size.height).contains(y),
        (0...size.width - x).contains(width), (0...size.height - y).contains(height)
      else { return nil }
      rects.append(PixelRect(x: x, y: y, width: width, height: height))
    }
    damage = rects
  }

  /// Every byte of every plane lies in memory of `byteCount` bytes.
  package func planesFit(_ byteCount: Int) -> Bool {
    planes.indices.allSatisfy { index in
      let (offset, stride) = planes[index]
      let extent = format.planeExtent(index, of: size)
      guard (0...byteCount).contains(offset), stride >= extent.rowBytes else { return false }
      let (before, isOver) = stride.multipliedReportingOverflow(by: extent.rows - 1)
      guard !isOver, before <= byteCount else { return false }
      return before + extent.rowBytes <= byteCount - offset
    }
  }
}

extension SharedPicture {
  /// The pixels where they lie in `segment`, which stays mapped until `release` was called; nil when they do not fit it.
  package func buffer(in segment: SharedSegment, release: @escaping @Sendable () -> Void) -> PixelBuffer? {
    guard planesFit(segment.byteCount) else { return nil }
    let planes = unsafe planes.map { unsafe (base: segment.base + $0.offset, stride: $0.stride) }
    return unsafe PixelBuffer(format: format, size: size, planes: planes) {
      withExtendedLifetime(segment) {}
      release()
    }
  }
}

extension PixelFormat {
  /// The format's number in messages.
  package var channelNumber: UInt8 {
    switch self {
    case .i420: 1
    case .i444: 2
    case .nv12: 3
    case .bgra: 4
    case .rgba: 5
    }
  }

  /// Nil for a number that is none of a format.
  package init?(channelNumber: UInt8) {
    switch channelNumber {
    case 1: self = .i420
    case 2: self = .i444
    case 3: self = .nv12
    case 4: self = .bgra
    case 5: self = .rgba
    default: return nil
    }
  }
}

extension ColorSpace {
  /// The number in messages.
  package var number: UInt8 { matrix.rawValue << 1 | range.rawValue }

  /// Nil for a number that stands for none.
  package init?(number: UInt8) {
    guard let matrix = Matrix(rawValue: number >> 1), let range = Range(rawValue: number & 1) else { return nil }
    self.init(matrix: matrix, range: range)
  }
}
