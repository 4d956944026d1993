public import RTCEngine
public import RTCMedia
import RTCNet
public import RTCPrimitives
import Synchronization

/// The combined requirements of a track's listeners.
public struct AudioDemand: Hashable, Sendable {
  /// Whether there is a listener whose network answers.
  public var isHeard = false
  /// The bandwidth of the listener with the best network; nil until one is known.
  public var bitrate: BitRate?
  /// The highest packet loss of any listener, 0…1, for forward error correction.
  public var loss = 0.0
  /// The combined preferences of all descriptions (`OpusPreferences.combined`).
  public var preferences = OpusPreferences()

  /// The requirements of a track without listeners.
  public init() {}
}

/// One encoded sound on its way to every attached peer.
public final class OutgoingAudioTrack: @unchecked Sendable {
  // Why unchecked: `listeners`, `receivers`, `audience`, `demand` and the handler are touched on the loop's thread alone; the rest is
  // constant or atomic.
  private struct Listener {
    var bitrate: BitRate?
    var loss = 0.0
    /// False while the listener's network does not answer.
    var isReachable = true
  }

  /// The track's name and stream in descriptions.
  public let name: TrackName
  private let loop: EventLoop
  private let enabled = Atomic(true)
  /// In the order they came.
  private var receivers: [TrackSender] = []
  private var listeners: [TrackSender: Listener] = [:]
  /// The listeners' preferences for the encoder.
  private var audience = OpusPreferenceSet<TrackSender>()
  private var demand = AudioDemand()
  private var onDemandChanged: @Sendable (AudioDemand) -> Void = { _ in }

  init(loop: EventLoop, name: TrackName) {
    self.loop = loop
    self.name = name
  }

  /// Sets the source of the packets, replacing the present one. Any thread.
  /// - Parameter onDemandChanged: called on the loop's thread when the requirements change; must not wait.
  public func setSource(onDemandChanged: @escaping @Sendable (AudioDemand) -> Void) {
    loop.post {
      self.onDemandChanged = onDemandChanged
      if self.demand != AudioDemand() { onDemandChanged(self.demand) }
    }
  }

  /// Hands `frame` to every attached peer. Any thread; frames keep their order when one thread sends them.
  public func send(_ frame: EncodedAudioFrame) {
    loop.post { self.fanOut(frame) }
  }

  /// False: muted, nothing is sent to anybody. Any thread.
  public var isEnabled: Bool {
    get { enabled.load(ordering: .relaxed) }
    set {
      guard enabled.exchange(newValue, ordering: .relaxed) != newValue else { return }
      loop.post {
        let now = MonotonicClock.now()
        for receiver in self.receivers { receiver.tell(isMuted: !newValue, now: now) }
      }
    }
  }

  private func fanOut(_ frame: EncodedAudioFrame) {
    guard isEnabled else { return }
    let now = MonotonicClock.now()
    for receiver in receivers { receiver.slot.handle(.audio(frame, receiver.transceiver), now: now) }
  }

  // MARK: - On the loop

  /// The peer can take sound from now on. Calling it again does nothing.
  func attach(_ outlet: TrackSender) {
    loop.assertOnLoop()
    guard listeners[outlet] == nil else { return }
    receivers.append(outlet)
    listeners[outlet] = Listener()
    _ = audience.set(OpusPreferences(), of: outlet)
    announceDemand()
  }

  func detach(_ outlet: TrackSender) {
    loop.assertOnLoop()
    receivers.removeAll { $0 == outlet }
    listeners[outlet] = nil
    _ = audience.set(nil, of: outlet)
    announceDemand()
  }

  /// The preferences of `outlet`'s remote peer have changed.
  func preferencesChanged(_ preferences: OpusPreferences, of outlet: TrackSender) {
    guard listeners[outlet] != nil else { return }
    if audience.set(preferences, of: outlet) != nil { announceDemand() }
  }

  /// The packet loss that `outlet`'s remote peer reported last, 0…1.
  func lossReported(_ loss: Double, by outlet: TrackSender) { change(outlet) { $0.loss = loss } }

  /// The bandwidth of the listener's network has changed.
  func bitrateChanged(_ bitrate: BitRate, of outlet: TrackSender) { change(outlet) { $0.bitrate = bitrate } }

  /// The listener has become silent, or answers again.
  func reachabilityChanged(_ isReachable: Bool, of outlet: TrackSender) {
    change(outlet) { $0.isReachable = isReachable }
  }

  private func change(_ outlet: TrackSender, _ body: (inout Listener) -> Void) {
    loop.assertOnLoop()
    guard listeners[outlet] != nil else { return }
    body(&listeners[outlet]!)
    announceDemand()
  }

  private func announceDemand() {
    var now = AudioDemand()
    let reachable = listeners.values.filter(\.isReachable)
    now.isHeard = !reachable.isEmpty
    now.bitrate = reachable.compactMap(\.bitrate).max()
    now.loss = listeners.values.map(\.loss).max() ?? 0
    now.preferences = audience.combined
    guard now != demand else { return }
    demand = now
    onDemandChanged(now)
  }
}
