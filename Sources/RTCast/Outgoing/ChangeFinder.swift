package import RTCMedia
package import RTCPage

/// Finds the parts of a screen that really changed. Damage only says which parts were painted: under a compositor, or
/// in a browser that repaints everything, that is the whole picture for a blinking caret.
///
/// Pictures are compared as a whole, 1.4 ms at 1080p, while a caller asks for changes, or the damage is wide and
/// comparisons spare the encoder much of it. The newest picture is held.
package struct ChangeFinder: Sendable {
  private var last: VideoFrame?
  /// Pictures compared without a break.
  private var compared = 0
  /// Pictures still to be compared since the last with wide damage.
  private var attention = 0
  /// Comparisons without a break in which most of the damage had really changed.
  private var vain = 0
  /// Pictures with wide damage that are not compared, as the last comparisons were in vain.
  private var pause = 0

  /// Damage of more than one part in so many of the picture is worth a comparison.
  private static let wideShare = 16
  /// The number of pictures compared after one with wide damage.
  private static let attentionSpan = 64
  /// A capturer reads whole rows, so a change may be in the picture before its damage is reported. For this number of
  /// compared pictures, reported damage counts as changed too.
  private static let settled = 3
  /// A comparison is in vain unless the damage is more than so many times what changed: in a terminal that scrolls, all
  /// that is painted changes.
  private static let payingShare = 4
  /// The number of vain comparisons after which there is a pause.
  private static let patience = 3
  /// The number of pictures with wide damage in a pause.
  private static let pauseSpan = 64
  /// The maximum number of rectangles for scattered changes.
  private static let maximumRects = 128

  package init() {}

  /// Takes a picture without viewers.
  package mutating func skip(_ frame: VideoFrame) { (last, compared) = (frame, 0) }

  /// Takes the next picture.
  /// - Parameters:
  ///   - isAsked: whether the caller needs the changed blocks, whatever the damage is.
  ///   - findsMoves: whether the caller needs what moved.
  ///   - isMovement: whether something moved a moment ago.
  /// - Returns: the picture, its damage reduced to the changes; the changed blocks, nil if unknown; and what moved, or is
  ///   in patches while something moves.
  package mutating func take(
    _ frame: VideoFrame, isAsked: Bool, findsMoves: Bool = false, isMovement: Bool = false
  ) -> (frame: VideoFrame, changed: BlockSet?, moved: MovedPicture?) {
    attend(isWide: Self.isWide(frame))
    guard isAsked || attention > 0, let last, last.canBeCompared(with: frame) else {
      skip(frame)
      return (frame, nil, nil)
    }
    self.last = frame
    let changed = PictureComparison.changes(from: last.buffer, to: frame.buffer)
    compared = min(compared + 1, Self.settled)
    let rects = changed.rects(limit: Self.maximumRects).map { $0.pixels(in: frame.size) }
    judge(spared: Self.area(rects) * Self.payingShare < Self.area(of: frame))
    let moved =
      findsMoves
      ? MoveFinder.find(from: last.buffer, to: frame.buffer, changed: changed, isMovement: isMovement) : nil
    return (narrowed(frame, to: rects), changed, moved)
  }

  private mutating func attend(isWide: Bool) {
    guard isWide else { return attention = max(0, attention - 1) }
    if pause > 0 { pause -= 1 } else { attention = Self.attentionSpan }
  }

  /// - Parameter spared: the comparison has spared the encoder most of the damage.
  private mutating func judge(spared: Bool) {
    vain = spared ? 0 : vain + 1
    guard vain >= Self.patience else { return }
    (vain, attention, pause) = (0, 0, Self.pauseSpan)
  }

  private func narrowed(_ frame: VideoFrame, to rects: [PixelRect]) -> VideoFrame {
    var narrowed = frame
    if compared < Self.settled {
      narrowed.damage = frame.damage.map { $0 + rects }
    } else if Self.area(rects) < Self.area(of: frame) {
      narrowed.damage = rects
    } else if let damage = frame.damage {
      narrowed.damage = damage + rects
    }
    return narrowed
  }

  private static func isWide(_ frame: VideoFrame) -> Bool {
    area(of: frame) * wideShare > frame.size.width * frame.size.height
  }

  private static func area(of frame: VideoFrame) -> Int {
    frame.damage.map(area) ?? frame.size.width * frame.size.height
  }

  private static func area(_ rects: [PixelRect]) -> Int { rects.reduce(0) { $0 + $1.width * $1.height } }
}

extension VideoFrame {
  /// Equal samples at one place are an equal colour at one place of the picture.
  fileprivate func canBeCompared(with other: VideoFrame) -> Bool {
    buffer.format.planeCount == 1 && buffer.format == other.buffer.format && size == other.size
      && rotation == other.rotation
      && colorSpace == other.colorSpace
  }
}
