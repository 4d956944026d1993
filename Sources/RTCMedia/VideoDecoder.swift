/// Turns coded pictures back into frames. Used by one thread at a time.
public protocol VideoDecoder: AnyObject {
  /// The codec that it decodes.
  var codec: VideoCodec { get }

  /// Decodes one picture; `data` is what `EncodedFrame.data` is for the codec.
  ///
  /// - Returns: the picture in memory that its own lease holds (a pool of the decoder's), without capture time and
  ///   rotation; nil when the packet shows nothing.
  /// - Throws: for bytes that are no picture of the codec, or one that needs a picture not seen. The decoder can then be
  ///   used again from the next key frame on.
  func decode(_ data: [UInt8]) throws(VideoDecoderError) -> PixelBuffer?

  /// The colour space of the last picture in the bitstream; nil if absent.
  var colorSpace: ColorSpace? { get }
}

extension VideoDecoder {
  /// Unknown, unless a decoder says otherwise.
  public var colorSpace: ColorSpace? { nil }
}

/// Makes a decoder; the registry's entry for a codec.
public typealias VideoDecoderFactory = @Sendable () throws(VideoDecoderError) -> any VideoDecoder

/// Why a decoder refused.
public enum VideoDecoderError: Error, Hashable, Sendable {
  /// The library's status code.
  case library(status: Int)
  /// A picture larger than we take, or in a format we have no use for.
  case unsupportedPicture(String)
  /// The decoding process has ended, or could not be started; a sentence gives the reason, which has been reported to
  /// the user.
  case processLost(String)
}

/// Provides the memory into which decoders write pictures. Any thread.
package protocol DecoderMemory: AnyObject, Sendable {
  /// The address of `byteCount` bytes on a multiple of 64, which hold any valid bytes; nil when there are none.
  func allocate(byteCount: Int) -> UInt?

  /// Frees unused memory of `byteCount` bytes from `allocate`.
  func free(_ address: UInt, byteCount: Int)
}

/// Memory of this process alone.
package final class OwnDecoderMemory: DecoderMemory {
  package init() {}

  package func allocate(byteCount: Int) -> UInt? {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    return UInt(bitPattern: memory)
  }

  package func free(_ address: UInt, byteCount: Int) {
    // Every address came from `allocate`, and comes back once.
    unsafe UnsafeMutableRawPointer(bitPattern: address)!.deallocate()
  }
}
