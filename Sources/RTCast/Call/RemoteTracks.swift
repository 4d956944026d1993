import RTCEngine
public import RTCMedia
public import RTCPeer
import RTCPlayout
import Synchronization

/// A picture that a far side sends. It is decoded while somebody looks; any thread.
public final class RemoteVideoTrack: Sendable {
  /// What a picture shows.
  public enum Content: String, Sendable, Hashable {
    case camera
    /// To be read, so worth more room than a face.
    case screen
  }

  public let id: String
  /// Whose it is.
  public let peer: PeerID
  /// The connection's track, for its statistics.
  public let incoming: IncomingVideoTrack
  let playout: VideoPlayout
  private let takers = Mutex(Takers())
  private let shown = Mutex<Content?>(nil)

  /// Who takes the pictures.
  private struct Takers {
    var sinks = 0
    /// From the next key frame on.
    var isWaiting = false
    /// What has come is taken from the connection from the first taker on.
    var isAttached = false
    var recordings: [IncomingRecording] = []
  }

  init(_ incoming: IncomingVideoTrack, peer: PeerID, playout: VideoPlayout) {
    id = incoming.id
    self.incoming = incoming
    self.peer = peer
    self.playout = playout
    incoming.onEnded { playout.end() }
  }

  /// What it shows; nil when the far side does not say. It may change, see `CallEvent.remoteVideoChanged`.
  public var content: Content? { shown.withLock { $0 } }

  /// True when that is news.
  @discardableResult
  func setContent(_ content: Content?) -> Bool {
    shown.withLock { shown in
      defer { shown = content }
      return shown != content
    }
  }

  /// False: hidden here; nothing is decoded.
  public var isEnabled: Bool {
    get { incoming.isEnabled }
    set {
      if !newValue { playout.notePause() }
      incoming.isEnabled = newValue
    }
  }

  /// Shows the picture to `sink` too. `videoDidEnd` is its last call.
  public func add(_ sink: any VideoSink) {
    playout.add(sink)
    let isFirst = takers.withLock { takers in
      takers.sinks += 1
      if takers.sinks == 1 { takers.isWaiting = true }
      return takers.sinks == 1
    }
    if isFirst { begin() }
  }

  /// Pictures are wanted, from a key frame on: the first that look get those that have just come.
  private func begin() {
    let isNew = takers.withLock { takers in
      defer { takers.isAttached = true }
      return !takers.isAttached
    }
    guard isNew else { return incoming.requestKeyFrame() }
    incoming.setReceiver { [weak self] in self?.receive($0) }
  }

  public func remove(_ sink: any VideoSink) {
    playout.remove(sink)
    let isLast = takers.withLock { takers in
      takers.sinks = max(0, takers.sinks - 1)
      return takers.sinks == 0
    }
    if isLast { playout.notePause() }
  }

  /// Hands on the coded pictures as they come, from the next key frame on, which is asked for.
  public func record(into sink: any EncodedMediaSink) {
    takers.withLock { $0.recordings.append(IncomingRecording(into: sink)) }
    begin()
  }

  private func receive(_ frame: ReceivedFrame) {
    let (isShown, recordings) = takers.withLock { takers in
      if frame.isKeyFrame { takers.isWaiting = false }
      return (takers.sinks > 0 && !takers.isWaiting, takers.recordings)
    }
    if isShown { playout.receive(frame) }
    for recording in recordings { recording.receive(frame) }
  }
}

/// A sound that a far side sends, played by the audio device. Any thread.
public final class RemoteAudioTrack: Sendable {
  public let id: String
  /// Whose it is.
  public let peer: PeerID
  public let incoming: IncomingAudioTrack
  let playout: AudioPlayout
  private let recordings = Mutex<[SoundRecording]>([])

  init(_ incoming: IncomingAudioTrack, peer: PeerID, playout: AudioPlayout) {
    id = incoming.id
    self.incoming = incoming
    self.peer = peer
    self.playout = playout
    incoming.onEnded { playout.end() }
    incoming.setReceiver { [weak self] packet in
      playout.receive(packet)
      self?.record(packet)
    }
  }

  /// False: not heard here.
  public var isEnabled: Bool {
    get { playout.isEnabled }
    set { playout.isEnabled = newValue }
  }

  /// In the loudspeaker, 0…10; 1 is as it was sent.
  public var volume: Float {
    get { playout.volume }
    set { playout.volume = newValue }
  }

  /// Hands the sound on too, raw and as it is heard. `audioDidEnd` is its last call.
  public func add(_ sink: any AudioSink) { playout.add(sink) }

  public func remove(_ sink: any AudioSink) { playout.remove(sink) }

  /// Hands on the coded packets as they come; late ones are left out.
  public func record(into sink: any EncodedMediaSink) {
    recordings.withLock { $0.append(SoundRecording(into: sink)) }
  }

  private func record(_ packet: ReceivedAudio) {
    for recording in recordings.withLock({ $0 }) { recording.receive(packet) }
  }
}
