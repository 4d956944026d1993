/// Decodes packets to sound at 48 kHz, and conceals missing ones. Used by one thread at a time.
///
/// All sound is interleaved, −1…1, of `channels` channels. The calls follow the stream: one call for each packet,
/// present or lost, in order.
public protocol AudioDecoder: AnyObject {
  /// 1 or 2.
  var channels: Int { get }

  /// The sound of the next packet.
  ///
  /// - Throws: for bytes that are no packet of the codec.
  func decode(_ packet: [UInt8]) throws(AudioDecoderError) -> [Float]

  /// The sound of a lost packet from the copy in the packet after it; concealed if that has none. That packet itself is
  /// decoded next.
  ///
  /// - Parameter sampleCount: samples of each channel in the lost packet, a multiple of 120 in 120…5760.
  func recover(sampleCount: Int, from next: [UInt8]) throws(AudioDecoderError) -> [Float]

  /// Sound in place of a lost packet, or of a silence that was not sent.
  ///
  /// - Parameter sampleCount: as for `recover`.
  func conceal(sampleCount: Int) throws(AudioDecoderError) -> [Float]
}

/// Makes an audio decoder for 1 or 2 channels.
public typealias AudioDecoderFactory = @Sendable (_ channels: Int) throws(AudioDecoderError) -> any AudioDecoder

/// Why an audio decoder refused.
public enum AudioDecoderError: Error, Hashable, Sendable {
  /// The requested number is neither 1 nor 2.
  case unsupportedChannels(Int)
  /// A packet without bytes.
  case emptyPacket
  /// Not a multiple of 120, or more than a packet can hold.
  case wrongSampleCount(Int)
  /// The library refused; its status code and its own words.
  case library(status: Int, message: String)
}
