package import RTCEngine
package import RTCMedia

/// Decodes the frames of a presenter, and makes a new decoder when the presenter requires one. Used by one thread.
package struct FrameDecoder {
  private let factories: [VideoCodec: VideoDecoderFactory]
  private let share: PictureShare?
  private let whenOverBudget: () -> Void
  private var decoder: (any VideoDecoder)?
  private var isOverBudget = false

  /// - Parameters:
  ///   - factories: the decoders, by codec.
  ///   - budget: the pixels that may be decoded; nil: any number.
  ///   - whenOverBudget: called once, if a picture exceeds the rest of the budget.
  package init(
    _ factories: [VideoCodec: VideoDecoderFactory], budget: PictureBudget? = nil,
    whenOverBudget: @escaping () -> Void = {}
  ) {
    self.factories = factories
    share = budget.map { PictureShare(of: $0) }
    self.whenOverBudget = whenOverBudget
  }

  /// Makes the decoder that a frame needs, which may start a process: the time does not count as decoding.
  /// - Parameter anew: replaces the present decoder.
  package mutating func prepare(for frame: ReceivedFrame, anew: Bool) {
    if anew { decoder = nil }
    if let size = frame.announcedSize, !mayDecode(size) { return }
    if decoder == nil { decoder = try? factories[frame.codec]?() }
  }

  /// Decodes one frame.
  /// - Parameter anew: with a new decoder.
  package mutating func decode(_ frame: ReceivedFrame, anew: Bool) -> VideoPresenter.Outcome {
    if anew { decoder = nil }
    // Before a decoder allocates memory for the frame.
    if let size = frame.announcedSize, !mayDecode(size) { return .refused }
    if decoder == nil { decoder = try? factories[frame.codec]?() }
    guard let decoder else { return .noDecoder }
    do throws(VideoDecoderError) {
      let picture = try decoder.decode(frame.data)
      // A frame may contain a larger picture than it announces.
      if let size = picture?.size, !mayDecode(size) { return .refused }
      return .decoded(picture, decoder.colorSpace)
    } catch {
      return .refused
    }
  }

  /// Releases the decoder, and its memory, if the budget has no room for pictures of the size.
  private mutating func mayDecode(_ size: PixelSize) -> Bool {
    guard let share, !share.take(size) else { return true }
    decoder = nil
    share.giveUp()
    if !isOverBudget { whenOverBudget() }
    isOverBudget = true
    return false
  }
}
