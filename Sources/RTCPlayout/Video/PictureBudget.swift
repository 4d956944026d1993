package import RTCPrimitives
import RTCEngine
import RTCMedia
import RTCWire
import Synchronization

/// A budget of pixels for the pictures of decoders: one for each remote peer, within that of the process. A decoder
/// keeps several pictures of the size, depending on its codec. Any thread.
package final class PictureBudget: Sendable {
  /// Bytes that a decoder holds for each pixel of its video, about: nine pictures of 4:2:0 and what waits to be shown.
  package static let bytesForPixel = 16

  private let pixels: Int
  private let whole: PictureBudget?
  private let used = Mutex(0)

  /// - Parameter whole: the budget that this one is part of.
  package init(pixels: Int, within whole: PictureBudget? = nil) {
    self.pixels = pixels
    self.whole = whole
  }

  /// Changes the share of one decoder.
  /// - Returns: false if the budget is exhausted; then nothing has changed.
  package func change(from old: Int, to new: Int) -> Bool {
    let isThere = used.withLock { used in
      guard new <= old || used - old + new <= pixels else { return false }
      used += new - old
      return true
    }
    guard isThere, let whole else { return isThere }
    if whole.change(from: old, to: new) { return true }
    used.withLock { $0 -= new - old }
    return false
  }
}

/// The share of one decoder in a budget; returned when it is released.
package final class PictureShare {
  private let budget: PictureBudget
  private var taken = 0

  package init(of budget: PictureBudget) { self.budget = budget }

  deinit { _ = budget.change(from: taken, to: 0) }

  /// Takes as much as pictures of a size need.
  /// - Returns: false when there is not so much left.
  package func take(_ size: PixelSize) -> Bool {
    let (pixels, overflow) = size.width.multipliedReportingOverflow(by: size.height)
    guard !overflow, budget.change(from: taken, to: max(0, pixels)) else { return false }
    taken = max(0, pixels)
    return true
  }

  /// Gives all back.
  package func giveUp() {
    _ = budget.change(from: taken, to: 0)
    taken = 0
  }
}

extension ReceivedFrame {
  /// The size announced in the bitstream; nil if absent, as on most frames that are not key frames. Checked before a
  /// decoder allocates memory.
  package var announcedSize: PixelSize? {
    let data = data.span
    switch codec {
    case .vp8: return VP8FrameHeader(parsing: data)?.keyFrameSize
    case .vp9: return VP9FrameHeader(parsing: data)?.size
    case .h264:
      var units = H264ByteStream(data)
      while let unit = units.nextUnit(in: data) {
        if let set = H264SequenceParameterSet(parsing: data.extracting(unit)) { return set.size }
      }
      return nil
    case .av1:
      var offset = 0
      while let unit = AV1OBU(in: data, at: offset) {
        if unit.header.kind == .sequenceHeader {
          return AV1SequenceHeader(parsing: data.extracting(unit.payload))?.size
        }
        offset = unit.payload.upperBound
      }
      return nil
    }
  }
}
