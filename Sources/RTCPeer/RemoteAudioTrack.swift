public import RTCEngine
public import RTCMedia
import RTCNet
package import RTCPlayout
import Synchronization

/// An audio track of the remote peer: forwarded as it arrives, recorded, or decoded and played by an audio device. Any
/// thread.
public final class RemoteAudioTrack: Sendable {
  /// The remote peer's identifier of the track.
  public let id: String
  /// The remote peer's streams it is in; tracks of one stream are played in step.
  public let streamIDs: [String]
  /// The transceiver that receives it.
  public let transceiver: TransceiverID
  /// The remote peer's name; see `PeerConnection.Configuration.remotePeer`.
  public let peer: String
  private let decoder: AudioDecoderFactory?
  private let readStatistics: @Sendable () async -> StreamStatistics.Reception?
  private let state = Mutex(State())

  private struct State {
    var isEnabled = true
    var volume: Float = 1
    /// Receives the packets as they arrive.
    var receiver: (@Sendable (ReceivedAudio) -> Void)?
    var recordings: [AudioRecording] = []
    /// The playout; made by `prepare`, or with the first sink.
    var playout: AudioPlayout?
    var ending = TrackEnding()
    var clock: SenderClock?
  }

  /// The error that there is no decoder of sound.
  package struct NoDecoder: Error, CustomStringConvertible {
    package var description: String { "there is no decoder of sound" }
  }

  /// - Parameters:
  ///   - peer: whose it is.
  ///   - decoder: what makes a decoder of Opus; nil: it cannot be played.
  init(
    _ description: RemoteTrackDescription, of peer: String, decoder: AudioDecoderFactory?,
    statistics: @escaping @Sendable () async -> StreamStatistics.Reception?
  ) {
    id = description.id
    streamIDs = description.streamIDs
    transceiver = description.transceiver
    self.peer = peer
    self.decoder = decoder
    readStatistics = statistics
  }

  // MARK: - Taking it

  /// Packets go to `handler` as they come: order and gaps are the jitter buffer's. Called on the loop's thread; must not
  /// wait. Nil: they go to the device, sinks and recorders alone.
  public func setReceiver(_ handler: (@Sendable (ReceivedAudio) -> Void)?) { state.withLock { $0.receiver = handler } }

  /// Adds a sink for raw and decoded sound. `audioDidEnd` is its last call, and the only one if there is no decoder.
  public func add(_ sink: any AudioSink) {
    guard let playout = try? prepare() else { return sink.audioDidEnd() }
    playout.add(sink)
  }

  /// A call that is under way may be the sink's last.
  public func remove(_ sink: any AudioSink) { playout?.remove(sink) }

  /// Passes the coded packets to `sink` as they arrive; late ones are left out.
  public func record(into sink: any EncodedMediaSink) {
    state.withLock { $0.recordings.append(AudioRecording(into: sink)) }
  }

  /// Makes what plays it: packets are decoded from now on, as a device asks for them.
  /// - Throws: `NoDecoder`, or the decoder's own error.
  @discardableResult
  package func prepare() throws -> AudioPlayout {
    try state.withLock { state in
      if let playout = state.playout { return playout }
      guard let decoder else { throw NoDecoder() }
      let new = AudioPlayout(decoder: try decoder(2)) { MonotonicClock.now() }
      (new.isEnabled, new.volume) = (state.isEnabled, state.volume)
      if state.ending.hasEnded { new.end() }
      state.playout = new
      return new
    }
  }

  /// If false, the sound is neither played nor forwarded; recording continues.
  public var isEnabled: Bool {
    get { state.withLock { $0.isEnabled } }
    set {
      state.withLock { state in
        state.isEnabled = newValue
        state.playout?.isEnabled = newValue
      }
    }
  }

  /// In the loudspeaker, 0…10; 1 is as it was sent.
  public var volume: Float {
    get { state.withLock { $0.playout?.volume ?? $0.volume } }
    set {
      state.withLock { state in
        state.volume = newValue
        state.playout?.volume = newValue
      }
    }
  }

  /// Called once, when the remote peer sends it no longer or the connection ends; at once if that has happened.
  public func onEnded(_ handler: @escaping @Sendable () -> Void) {
    if state.withLock({ $0.ending.setHandler(handler) }) { handler() }
  }

  // MARK: - Reading

  /// The remote sender's clocks by its latest report; nil before the first.
  public var senderClock: SenderClock? { state.withLock { $0.clock } }

  /// The receiving statistics, with the present loudness (`audioLevel`); nil before the first packet.
  public func reception() async -> StreamStatistics.Reception? { await readStatistics() }

  /// The playout that a device asks for sound; nil before `prepare`.
  package var playout: AudioPlayout? { state.withLock { $0.playout } }

  // MARK: - On the loop

  func deliver(_ packet: ReceivedAudio) {
    let (receiver, playout, recordings) = state.withLock { state in
      (state.isEnabled ? state.receiver : nil, state.playout, state.recordings)
    }
    receiver?(packet)
    playout?.receive(packet)
    for recording in recordings { recording.receive(packet) }
  }

  func note(_ clock: SenderClock) { state.withLock { $0.clock = clock } }

  func end() {
    let (handler, playout) = state.withLock { state in
      state.receiver = nil
      state.recordings = []
      return (state.ending.end(), state.playout)
    }
    playout?.end()
    handler?()
  }
}
