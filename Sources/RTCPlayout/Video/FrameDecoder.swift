package import RTCEngine
package import RTCMedia

/// Decodes what a presenter says, with one decoder as long as it says so. Used by one thread.
package struct FrameDecoder {
  private let factories: [VideoCodec: VideoDecoderFactory]
  private var decoder: (any VideoDecoder)?

  /// - Parameter factories: what makes a decoder for each codec that is taken.
  package init(_ factories: [VideoCodec: VideoDecoderFactory]) { self.factories = factories }

  /// Decodes one frame.
  /// - Parameter anew: with a new decoder.
  package mutating func decode(_ frame: ReceivedFrame, anew: Bool) -> VideoPresenter.Outcome {
    if anew { decoder = nil }
    if decoder == nil { decoder = try? factories[frame.codec]?() }
    guard let decoder else { return .noDecoder }
    do throws(VideoDecoderError) {
      return .decoded(try decoder.decode(frame.data), decoder.colorSpace)
    } catch {
      return .refused
    }
  }
}
