import COpus
package import RTCMedia
import RTCWire

/// Opus by libopus, decoding to 48 kHz. Used by one thread at a time.
@safe package final class OpusAudioDecoder: AudioDecoder {
  /// 1 or 2; packets of either are mixed to it.
  package let channels: Int
  private let decoder: OpaquePointer
  private var samples: [Float]

  /// A decoder for mono (1) or stereo (2) at 48 kHz.
  /// - Throws: `AudioDecoderError.unsupportedChannels`, or what libopus refuses.
  package init(channels: Int = 2) throws(AudioDecoderError) {
    guard (1...2).contains(channels) else { throw .unsupportedChannels(channels) }
    var status: Int32 = 0
    guard let decoder = unsafe opus_decoder_create(48_000, Int32(channels), &status) else {
      throw .library(status: Int(status), message: unsafe String(cString: opus_strerror(status)))
    }
    self.channels = channels
    unsafe self.decoder = decoder
    samples = Array(repeating: 0, count: OpusPacket.maximumSampleCount * channels)
  }

  deinit { unsafe opus_decoder_destroy(decoder) }

  /// The sound of the next packet, interleaved.
  ///
  /// - Throws: for bytes that are no Opus packet.
  package func decode(_ packet: [UInt8]) throws(AudioDecoderError) -> [Float] {
    guard !packet.isEmpty else { throw .emptyPacket }
    return try run(packet, sampleCount: OpusPacket.maximumSampleCount, usesRepair: false)
  }

  /// The sound of a lost packet, from the coarse copy in the one after it; made up where that brings none. Decode that
  /// packet itself next.
  ///
  /// - Parameter sampleCount: samples of each channel in the lost packet, a multiple of 120.
  package func recover(sampleCount: Int, from next: [UInt8]) throws(AudioDecoderError) -> [Float] {
    guard !next.isEmpty else { throw .emptyPacket }
    return try run(next, sampleCount: try checked(sampleCount), usesRepair: true)
  }

  /// Sound in place of a lost packet, continuing what was heard last and fading.
  ///
  /// - Parameter sampleCount: samples of each channel in the lost packet, a multiple of 120.
  package func conceal(sampleCount: Int) throws(AudioDecoderError) -> [Float] {
    try run(nil, sampleCount: try checked(sampleCount), usesRepair: false)
  }

  private func checked(_ sampleCount: Int) throws(AudioDecoderError) -> Int {
    guard (120...OpusPacket.maximumSampleCount).contains(sampleCount), sampleCount % 120 == 0 else {
      throw .wrongSampleCount(sampleCount)
    }
    return sampleCount
  }

  private func run(_ packet: [UInt8]?, sampleCount: Int, usesRepair: Bool) throws(AudioDecoderError) -> [Float] {
    let count =
      if let packet {
        unsafe opus_decode_float(
          decoder, packet, Int32(packet.count), &samples, Int32(sampleCount), usesRepair ? 1 : 0)
      } else {
        unsafe opus_decode_float(decoder, nil, 0, &samples, Int32(sampleCount), 0)
      }
    guard count >= 0 else { throw .library(status: Int(count), message: unsafe String(cString: opus_strerror(count))) }
    return Array(samples[..<(Int(count) * channels)])
  }
}
