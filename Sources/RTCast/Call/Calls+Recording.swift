public import RTCMedia
import RTCPeer

/// The media sent in all calls. Sending may begin and end at any time, with or without a call.
extension CallManager {
  /// Starts to send the audio device's microphone. A call begins with sound alone; see `startVideoRecording`.
  public func startRecording() async throws(CallManagerError) {
    try await record(MediaSource(video: video?.source, audio: audioDevice?.microphone))
  }

  /// Starts to send the microphone and the pictures of `videoCapturer`.
  public func startRecording(videoCapturer: any VideoCapturer) async throws(CallManagerError) {
    try await record(MediaSource(video: videoCapturer, audio: audioDevice?.microphone))
  }

  /// Adds the pictures of `videoCapturer`, or replaces the present ones; the sound is not affected.
  /// - Parameter size: the size to ask of a capturer that can deliver any; nil: `CallConfiguration.captureSize`.
  public func startVideoRecording(
    videoCapturer: any VideoCapturer, size: PixelSize? = nil
  ) async throws(CallManagerError) {
    try await record(MediaSource(video: videoCapturer, audio: audio?.source), size: size)
  }

  /// Sends this and nothing else: pictures, sound, or both, such as a file's. A source that can wait at its beginning, as a
  /// file can, begins when the first remote peer can receive it.
  /// - Parameter size: to ask of a capturer that can deliver any; nil: `CallConfiguration.captureSize`.
  public func startRecording(source: MediaSource, size: PixelSize? = nil) async throws(CallManagerError) {
    try await record(source, size: size)
  }

  /// Stops the pictures; the sound is not affected.
  public func stopVideoRecording() async throws(CallManagerError) {
    guard video != nil else { return }
    try await record(MediaSource(video: nil, audio: audio?.source))
    media.previews.end()
  }

  /// True from the end of the source until another source starts.
  package var isSourceEnded: Bool { media.outgoing.isEnded }

  /// The video track being sent; nil without pictures.
  public var localVideoTrack: LocalVideoTrack? { video?.track }
  /// The audio track being sent; nil before `startRecording`.
  public var localAudioTrack: LocalAudioTrack? { audio?.track }

  private func record(_ source: MediaSource, size: PixelSize? = nil) async throws(CallManagerError) {
    let shown = media.streams
    do throws(CaptureError) { try await media.start(source, size: size) } catch { throw .capture(error.sentence) }
    // A picture in the place of another needs no description that would say it.
    if video != nil, source.video != nil, media.streams != shown { tellStreams() }
    await follow(video: source.video)
    await follow(audio: source.audio)
  }

  private func follow(video source: (any VideoCapturer)?) async {
    switch (video, source) {
    case (nil, nil): break
    case (let old?, nil):
      video = nil
      for connection in connections.values { await connection.remove(.video) }
      tell(.localVideoRemoved(old.track), room: nil)
    case (let old?, let source?): video = (source, old.track)
    case (nil, let source?):
      let track = LocalVideoTrack(media.videoTrack, previews: media.previews) { [weak self] isMuted in
        Task { [weak self] in await self?.tellMuted("video", isMuted) }
      }
      video = (source, track)
      for connection in connections.values { await connection.add(.video) }
      tell(.localVideoAdded(track), room: nil)
      delegate?.didAddLocalVideoTrack(track)
    }
  }

  private func follow(audio source: (any AudioSource)?) async {
    switch (audio, source) {
    case (nil, nil): break
    case (let old?, nil):
      audio = nil
      for connection in connections.values { await connection.remove(.audio) }
      tell(.localAudioRemoved(old.track), room: nil)
    case (let old?, let source?): audio = (source, old.track)
    case (nil, let source?):
      guard let outgoing = media.audioTrack else { return }
      let track = LocalAudioTrack(outgoing) { [weak self] isMuted in
        Task { [weak self] in await self?.tellMuted("audio", isMuted) }
      }
      audio = (source, track)
      for connection in connections.values { await connection.add(.audio) }
      tell(.localAudioAdded(track), room: nil)
      delegate?.didAddLocalAudioTrack(track)
    }
  }
}
