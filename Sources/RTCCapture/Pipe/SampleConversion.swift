/// Brings the samples of a stream into frames: depth to 8 bits, colour of 4:2:2 to 4:2:0, full range to limited.
struct SampleConversion {
  let layout: PipeLayout

  /// Fills the frame's planes from a picture as it lay in the stream.
  func convert(_ picture: Span<UInt8>, into frame: inout MutableSpan<UInt8>) {
    var target = 0
    for plane in layout.planes {
      let rows = plane.halvesRows ? (plane.rows + 1) / 2 : plane.rows
      for row in 0..<rows {
        let upper = plane.halvesRows ? row * 2 : row
        // An odd number of rows ends with one that has no partner.
        let lower = plane.halvesRows ? min(upper + 1, plane.rows - 1) : upper
        convertRow(picture, plane, upper, lower, into: &frame, at: target)
        target += plane.width
      }
    }
  }

  private func convertRow(
    _ picture: Span<UInt8>, _ plane: PipeLayout.Plane, _ upper: Int, _ lower: Int, into frame: inout MutableSpan<UInt8>,
    at target: Int
  ) {
    let rowBytes = plane.width * (layout.bitDepth > 8 ? 2 : 1)
    let first = picture.extracting(plane.offset + upper * rowBytes..<plane.offset + (upper + 1) * rowBytes)
    let second = picture.extracting(plane.offset + lower * rowBytes..<plane.offset + (lower + 1) * rowBytes)
    var out = frame._mutatingExtracting(target..<target + plane.width)
    if layout.bitDepth == 8 {
      for x in out.indices { out[x] = UInt8((UInt16(first[x]) + UInt16(second[x]) + 1) >> 1) }
      return
    }
    let shift = UInt32(layout.bitDepth - 8 + 1)
    let half: UInt32 = 1 << (shift - 1)
    for x in out.indices {
      let a = UInt32(first[2 * x]) | UInt32(first[2 * x + 1]) << 8
      let b = UInt32(second[2 * x]) | UInt32(second[2 * x + 1]) << 8
      // Samples above their depth are an error of the writer; they are shown as white.
      out[x] = UInt8(truncatingIfNeeded: min(255, (a + b + half) >> shift))
    }
  }

  /// Compresses full-range samples in place to what browsers expect.
  func limitRange(of frame: inout MutableSpan<UInt8>) {
    let luma = layout.size.width * layout.size.height
    // 16 + 219/255 of luma, 128 ± 224/255 of colour, in 65536ths and rounded.
    for index in 0..<luma {
      frame[index] = UInt8(truncatingIfNeeded: (UInt32(frame[index]) * 56_284 + 1_081_344) >> 16)
    }
    for index in luma..<frame.count {
      frame[index] = UInt8(truncatingIfNeeded: (UInt32(frame[index]) * 57_569 + 1_052_560) >> 16)
    }
  }
}
