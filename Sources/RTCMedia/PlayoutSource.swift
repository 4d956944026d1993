public import RTCPrimitives

/// Has the audio that is to be played.
public protocol PlayoutSource: AnyObject, Sendable {
  /// The next `sampleCount` samples of each channel at 48 kHz stereo, interleaved; silence where nothing is to be heard.
  /// Called from the device's own thread, which must not wait.
  ///
  /// - Parameter delay: how long until the first of them is heard.
  func render(sampleCount: Int, delay: TimeDelta) -> [Float]
}
