import COpus
package import RTCMedia

/// Opus by libopus, encoding. Used by one thread at a time.
@safe package final class OpusAudioEncoder: AudioEncoder {
  /// The settings of the coming packets; `reconfigure` changes them.
  package private(set) var settings: AudioEncoderSettings

  private var encoder: OpaquePointer
  /// Milliseconds of silence up to now.
  private var silence = 0
  private var packet = [UInt8](repeating: 0, count: OpusAudioEncoder.maximumPacketSize)

  /// Bytes of a packet at most, whatever rate is set: it must fit into one datagram. Reached above 560 kbit/s at 20 ms,
  /// 186 kbit/s at 60 ms.
  package static let maximumPacketSize = 1_400

  /// A packet of up to so many bytes is silence that need not be sent (opus_encoder(3), `opus_encode`).
  private static let silentPacketSize = 2

  /// Softer than two steps of 16-bit sound (-84 dB) is silence; so much of it is still sent, and then a frame now and
  /// then, which tells the remote peer that the sound has not broken off.
  private static let softest: Float = 2 / 32_768
  private static let silenceBeforeRest = 200
  private static let silenceBetweenFrames = 400

  /// An encoder at 48 kHz.
  /// - Throws: `AudioEncoderError.unsupportedSettings` for what is out of range, or what libopus refuses.
  package init(_ settings: AudioEncoderSettings) throws(AudioEncoderError) {
    try Self.check(settings)
    self.settings = settings
    unsafe encoder = try Self.make(settings)
    do throws(AudioEncoderError) {
      try configure(settings)
    } catch {
      unsafe opus_encoder_destroy(encoder)
      throw error
    }
  }

  deinit { unsafe opus_encoder_destroy(encoder) }

  /// Makes encoders for a registry of codecs.
  package static let factory: AudioEncoderFactory = { settings throws(AudioEncoderError) in
    try OpusAudioEncoder(settings)
  }

  /// Name and version of the library, such as `libopus 1.3.1`.
  package static var library: String { unsafe String(cString: opus_get_version_string()) }

  /// The delay of decoded sound behind the encoder's input, in samples at 48 kHz; for tests.
  package var lookahead: Int {
    var samples: opus_int32 = 0
    return unsafe copus_encoder_get(encoder, OPUS_GET_LOOKAHEAD_REQUEST, &samples) == OPUS_OK ? Int(samples) : 0
  }

  /// Changes any setting; one that libopus cannot change in flight makes a new encoder.
  /// - Throws: as `init`.
  package func reconfigure(_ settings: AudioEncoderSettings) throws(AudioEncoderError) {
    guard settings != self.settings else { return }
    try Self.check(settings)
    // Channels and application are for life; packets may change both from one to the next (RFC 6716 §2.1.2).
    if settings.channels != self.settings.channels || settings.application != self.settings.application {
      let new = unsafe try Self.make(settings)
      unsafe opus_encoder_destroy(encoder)
      unsafe encoder = new
    }
    try configure(settings)
    self.settings = settings
  }

  /// Encodes one block, interleaved −1…1 (RFC 6716); nil when it is silence that need not be sent.
  package func encode(_ samples: [Float]) throws(AudioEncoderError) -> [UInt8]? {
    let frame = settings.frameMilliseconds * 48
    guard samples.count == frame * settings.channels else {
      throw .wrongSampleCount(expected: frame * settings.channels, got: samples.count)
    }
    guard !settings.usesDiscontinuousTransmission || isToBeSent(samples) else { return nil }
    let count = unsafe opus_encode_float(encoder, samples, Int32(frame), &packet, Int32(packet.count))
    guard count >= 0 else { throw Self.failure(count) }
    return count <= Self.silentPacketSize && silence < Self.silenceBeforeRest ? nil : Array(packet[..<Int(count)])
  }

  /// False for silence that need not be sent. The library's own judgement serves voices: it would take a soft passage of
  /// music for noise, and without its costlier analysis it lets silence through.
  private func isToBeSent(_ samples: [Float]) -> Bool {
    for sample in samples where !(abs(sample) < Self.softest) {
      silence = 0
      return true
    }
    silence += settings.frameMilliseconds
    let rest = silence - Self.silenceBeforeRest
    return rest <= 0 || rest % Self.silenceBetweenFrames < settings.frameMilliseconds
  }

  // MARK: - The library

  private static func check(_ settings: AudioEncoderSettings) throws(AudioEncoderError) {
    func refuse(_ condition: Bool, _ sentence: String) throws(AudioEncoderError) {
      if condition { throw .unsupportedSettings(sentence) }
    }
    try refuse(
      !(1...2).contains(settings.channels), "Opus sound has 1 or 2 channels, not \(settings.channels).")
    try refuse(
      ![10, 20, 40, 60].contains(settings.frameMilliseconds),
      "An Opus packet holds 10, 20, 40 or 60 ms of sound, not \(settings.frameMilliseconds).")
    try refuse(
      !(6_000...510_000).contains(settings.bitrate),
      "Opus takes 6 000 to 510 000 bits a second, not \(settings.bitrate).")
    try refuse(
      !(8_000...48_000).contains(settings.maximumSampleRate),
      "Opus sound is played at 8 000 to 48 000 samples a second, not \(settings.maximumSampleRate).")
    try refuse(
      !(0...10).contains(settings.complexity), "Opus complexity is 0 to 10, not \(settings.complexity).")
    try refuse(
      !(0...1).contains(settings.expectedLoss), "Expected loss is 0 to 1, not \(settings.expectedLoss).")
  }

  private static func make(_ settings: AudioEncoderSettings) throws(AudioEncoderError) -> OpaquePointer {
    var status: Int32 = 0
    let application = settings.application == .voice ? OPUS_APPLICATION_VOIP : OPUS_APPLICATION_AUDIO
    guard let encoder = unsafe opus_encoder_create(48_000, Int32(settings.channels), application, &status) else {
      throw failure(status)
    }
    return unsafe encoder
  }

  private func configure(_ settings: AudioEncoderSettings) throws(AudioEncoderError) {
    try set(OPUS_SET_BITRATE_REQUEST, settings.bitrate)
    try set(OPUS_SET_VBR_REQUEST, settings.isConstantBitrate ? 0 : 1)
    try set(OPUS_SET_FORCE_CHANNELS_REQUEST, settings.codesMono ? 1 : Int(OPUS_AUTO))
    try set(OPUS_SET_MAX_BANDWIDTH_REQUEST, Self.bandwidth(settings.maximumSampleRate))
    try set(OPUS_SET_COMPLEXITY_REQUEST, settings.complexity)
    let leavesOutNoise = settings.usesDiscontinuousTransmission && settings.application == .voice
    try set(OPUS_SET_DTX_REQUEST, leavesOutNoise ? 1 : 0)
    try set(OPUS_SET_INBAND_FEC_REQUEST, settings.usesForwardErrorCorrection ? 1 : 0)
    try set(OPUS_SET_PACKET_LOSS_PERC_REQUEST, Int((settings.expectedLoss * 100).rounded()))
    try set(OPUS_SET_SIGNAL_REQUEST, Int(settings.application == .voice ? OPUS_SIGNAL_VOICE : OPUS_AUTO))
  }

  /// The narrowest that has all that can be heard at `rate` samples a second (RFC 7587 §6.1, `maxplaybackrate`).
  private static func bandwidth(_ rate: Int) -> Int {
    switch rate {
    case ...8_000: Int(OPUS_BANDWIDTH_NARROWBAND)
    case ...12_000: Int(OPUS_BANDWIDTH_MEDIUMBAND)
    case ...16_000: Int(OPUS_BANDWIDTH_WIDEBAND)
    case ...24_000: Int(OPUS_BANDWIDTH_SUPERWIDEBAND)
    default: Int(OPUS_BANDWIDTH_FULLBAND)
    }
  }

  private func set(_ request: Int32, _ value: Int) throws(AudioEncoderError) {
    let status = unsafe copus_encoder_set(encoder, request, Int32(value))
    guard status == OPUS_OK else { throw Self.failure(status) }
  }

  private static func failure(_ status: Int32) -> AudioEncoderError {
    .library(status: Int(status), message: unsafe String(cString: opus_strerror(status)))
  }
}
