public import RTCMedia

extension Recorder: EncodedMediaSink {
  public func take(_ frame: EncodedFrame) { record(frame) }
  public func take(_ frame: EncodedAudioFrame) { record(frame) }
}
