public import RTCMedia

extension Recorder: EncodedMediaSink {
  /// Takes a video frame to write, as `record(_:)` does; any thread, returns at once.
  public func take(_ frame: EncodedFrame) { record(frame) }
  /// Takes an Opus packet to write, as `record(_:)` does; any thread, returns at once.
  public func take(_ frame: EncodedAudioFrame) { record(frame) }
}
