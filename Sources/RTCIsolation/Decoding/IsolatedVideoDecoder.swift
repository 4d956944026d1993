import RTCMedia
import RTCPrimitives

/// A decoder in a process of its own. Its pictures lie in memory that both processes share, read-only here. Used by one
/// thread at a time.
final class IsolatedVideoDecoder: VideoDecoder {
  let codec: VideoCodec
  private(set) var colorSpace: ColorSpace?
  /// Nil after it was lost.
  private var child: DecoderChild?
  private let patience: TimeDelta
  private let whenLost: (UntrustedChild.Loss) -> String

  /// - Parameter whenLost: called once, when the process is no more; returns how that came, for a person.
  init(
    _ codec: VideoCodec, _ child: DecoderChild, patience: TimeDelta,
    whenLost: @escaping (UntrustedChild.Loss) -> String
  ) {
    self.codec = codec
    self.child = child
    self.patience = patience
    self.whenLost = whenLost
    child.setPatience(patience)
  }

  func decode(_ data: [UInt8]) throws(VideoDecoderError) -> PixelBuffer? {
    guard let child else { throw .processLost("The process has ended.") }
    let answer: DecoderChild.Answer
    do throws(UntrustedChild.Loss) { answer = try child.decode(data) } catch {
      self.child = nil
      throw .processLost(whenLost(error))
    }
    switch answer {
    case .picture(let picture, let meaning):
      colorSpace = meaning
      return picture
    case .nothing: return nil
    case .refused(let error): throw error
    }
  }
}
