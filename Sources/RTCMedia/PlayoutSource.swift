public import RTCPrimitives

/// A source of audio to be played.
public protocol PlayoutSource: AnyObject, Sendable {
  /// The next `sampleCount` samples of each channel at 48 kHz stereo, interleaved; silence if there is no sound. Called
  /// on the device's own thread, which must not wait.
  ///
  /// - Parameter delay: the time until the first of them is heard.
  func render(sampleCount: Int, delay: TimeDelta) -> [Float]
}
