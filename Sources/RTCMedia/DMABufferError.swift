import Glibc
public import RTCPrimitives

/// Why a DMA-BUF was refused or cannot be read.
public enum DMABufferError: Error, Hashable, Sendable {
  /// The code stands for none of our formats.
  case unknownFormat(fourCC: UInt32)
  /// The picture is empty or too large.
  case unsuitableSize(PixelSize)
  /// Number, stride or files of the planes do not fit the format.
  case unsuitablePlanes
  /// The pixels lie in an order that only the driver knows.
  case notLinear(modifier: UInt64)
  /// A plane reaches beyond the end of its file of `byteCount` bytes.
  case outside(plane: Int, byteCount: Int)
  /// The file is neither a DMA-BUF nor memory that is sealed against shrinking.
  case notShareable
  /// The system refused.
  case system(errno: Int32, call: String)
}

extension DMABufferError: CustomStringConvertible {
  /// A message for a person: the event, its reason and the remedy.
  public var description: String {
    switch self {
    case .unknownFormat(let fourCC):
      let hex = String(fourCC, radix: 16)
      return "The picture has the DRM format 0x\(hex), which rtcast cannot read. \(Self.advice)"
    case .unsuitableSize(let size):
      return "A DMA-BUF with a picture of \(size) was refused: a side has 1 to 65535 pixels."
    case .unsuitablePlanes:
      return "A DMA-BUF was refused, because its planes do not fit its format. This is a fault of the source; "
        + "update its driver, or choose another way to capture."
    case .notLinear(let modifier):
      let hex = String(modifier, radix: 16)
      return "The picture lies in an order that only the graphics driver can read (modifier 0x\(hex)). \(Self.advice)"
    case .outside(let plane, let byteCount):
      return
        "Plane \(plane) of a picture reaches beyond the end of its DMA-BUF of \(byteCount) bytes. This is a fault of "
        + "the source; update its driver, or choose another way to capture."
    case .notShareable:
      return "The file with the picture is neither a DMA-BUF nor sealed memory, so it could shrink while it is read. "
        + "Have the source seal its memory (F_SEAL_SHRINK)."
    case .system(let errno, let call):
      let reason = unsafe String(cString: strerror(errno))  // thread-local in glibc since 2.32
      return "The picture in a DMA-BUF cannot be read: \(reason) (\(call), errno \(errno)). \(Self.advice)"
    }
  }

  private static let advice =
    "Have the source offer linear buffers (modifier 0) as XRGB8888, XBGR8888, NV12, YUV420 or YUV444, or choose another "
    + "way to capture."
}
