public import RTCEngine
public import RTCMedia
import RTCNet
public import RTCPrimitives
import Synchronization

/// What the listeners of a track need of it together.
public struct AudioDemand: Hashable, Sendable {
  /// Somebody listens whose network answers.
  public var isHeard = false
  /// What the best network among the listeners bears; nil until one is known.
  public var bitrate: BitRate?
  /// The highest packet loss that any listener reports, 0…1: what forward error correction is to be made for.
  public var loss = 0.0
  /// What all descriptions together ask of the encoder (`OpusPreferences.combined`).
  public var preferences = OpusPreferences()

  /// A track of its own, sent to nobody yet.
  public init() {}
}

/// One encoded sound on its way to every attached peer.
public final class OutgoingAudioTrack: @unchecked Sendable {
  // Why unchecked: `listeners`, `receivers`, `audience`, `demand` and the handler are touched on the loop's thread alone; the rest is
  // constant or atomic.
  private struct Listener {
    var bitrate: BitRate?
    var loss = 0.0
    /// False while nothing is heard of it.
    var isReachable = true
  }

  /// What descriptions call it, and the stream it is in.
  public let name: TrackName
  private let loop: EventLoop
  private let enabled = Atomic(true)
  /// In the order they came.
  private var receivers: [TrackSender] = []
  private var listeners: [TrackSender: Listener] = [:]
  /// What they ask of the encoder.
  private var audience = OpusPreferenceSet<TrackSender>()
  private var demand = AudioDemand()
  private var onDemandChanged: @Sendable (AudioDemand) -> Void = { _ in }

  init(loop: EventLoop, name: TrackName) {
    self.loop = loop
    self.name = name
  }

  /// Says who makes the packets, in the place of whoever was said before. Any thread.
  /// - Parameter onDemandChanged: listeners need something else than before. Called on the loop's thread, which must not
  ///   be kept waiting.
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

  /// What `outlet`'s remote peer asks for.
  func preferencesChanged(_ preferences: OpusPreferences, of outlet: TrackSender) {
    guard listeners[outlet] != nil else { return }
    if audience.set(preferences, of: outlet) != nil { announceDemand() }
  }

  /// What `outlet`'s remote peer last said it lost, 0…1.
  func lossReported(_ loss: Double, by outlet: TrackSender) { change(outlet) { $0.loss = loss } }

  /// The listener's network bears so much from now on.
  func bitrateChanged(_ bitrate: BitRate, of outlet: TrackSender) { change(outlet) { $0.bitrate = bitrate } }

  /// The listener fell silent, or is heard of again.
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
