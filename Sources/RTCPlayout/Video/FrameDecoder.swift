package import RTCEngine
package import RTCMedia

/// Decodes what a presenter says, with one decoder as long as it says so. Used by one thread.
package struct FrameDecoder {
  private let factories: [VideoCodec: VideoDecoderFactory]
  private let share: PictureShare?
  private let whenOverBudget: () -> Void
  private var decoder: (any VideoDecoder)?
  private var isOverBudget = false

  /// - Parameters:
  ///   - factories: what makes a decoder for each codec that is taken.
  ///   - budget: the pixels that may be decoded; nil: any number.
  ///   - whenOverBudget: called once, when a picture is larger than what is left.
  package init(
    _ factories: [VideoCodec: VideoDecoderFactory], budget: PictureBudget? = nil,
    whenOverBudget: @escaping () -> Void = {}
  ) {
    self.factories = factories
    share = budget.map { PictureShare(of: $0) }
    self.whenOverBudget = whenOverBudget
  }

  /// Makes the decoder that a frame needs, which may start a process: that is no part of the time that frames take.
  /// - Parameter anew: in the place of the one there is.
  package mutating func prepare(for frame: ReceivedFrame, anew: Bool) {
    if anew { decoder = nil }
    if let size = frame.announcedSize, !mayDecode(size) { return }
    if decoder == nil { decoder = try? factories[frame.codec]?() }
  }

  /// Decodes one frame.
  /// - Parameter anew: with a new decoder.
  package mutating func decode(_ frame: ReceivedFrame, anew: Bool) -> VideoPresenter.Outcome {
    if anew { decoder = nil }
    // Before a decoder reserves what the frame asks for.
    if let size = frame.announcedSize, !mayDecode(size) { return .refused }
    if decoder == nil { decoder = try? factories[frame.codec]?() }
    guard let decoder else { return .noDecoder }
    do throws(VideoDecoderError) {
      let picture = try decoder.decode(frame.data)
      // What a frame announces need not be what it holds.
      if let size = picture?.size, !mayDecode(size) { return .refused }
      return .decoded(picture, decoder.colorSpace)
    } catch {
      return .refused
    }
  }

  /// Lets go of the decoder, and of its memory, when there is no room for pictures of a size.
  private mutating func mayDecode(_ size: PixelSize) -> Bool {
    guard let share, !share.take(size) else { return true }
    decoder = nil
    share.giveUp()
    if !isOverBudget { whenOverBudget() }
    isOverBudget = true
    return false
  }
}
