public import RTCEngine
import RTCIce
import RTCNet
public import RTCPrimitives
public import RTCSctp

/// A connection to one far peer. It lives on the loop's thread; every call hops there once.
public actor PeerConnection {
  public struct Configuration: Sendable {
    /// The video to send, if any.
    public var video: OutgoingVideoTrack?
    /// What the video's frames may be coded with, the best first; see `PeerConfiguration.OutgoingVideo.codecs`.
    public var videoFormats = [VideoPayloadFormat.vp8]
    public var receivesVideo = false
    /// The sound to send, if any; played in step with the video.
    public var audio: OutgoingAudioTrack?
    public var receivesAudio = false
    /// What is said of the sound in descriptions.
    public var opus = PeerConfiguration.OpusParameters()
    /// Nil: no data channels; the far side's m-section for them is rejected.
    public var dataChannels: DataChannelOptions? = DataChannelOptions()
    public var bitrates = BitrateLimits()
    /// Of the sound we send.
    public var audioBitrates = BitrateLimits.audio
    /// Time from the first description to a finished handshake; then the connection ends by itself.
    public var connectTimeout = TimeDelta.seconds(15)

    public init(video: OutgoingVideoTrack? = nil, audio: OutgoingAudioTrack? = nil) {
      self.video = video
      self.audio = audio
    }
  }

  public nonisolated let id: String
  /// What happens to the connection, in order; ends after `.stateChanged(.ended)`. One reader.
  public nonisolated let events: AsyncStream<Event>

  /// The channels that the far side opens. One reader.
  public nonisolated let incomingDataChannels: AsyncStream<DataChannel>
  private let incomingContinuation: AsyncStream<DataChannel>.Continuation

  private let loop: PeerLoop
  private let configuration: Configuration
  private let credentials: IceCredentials
  private let continuation: AsyncStream<Event>.Continuation
  private var slot: PeerSlot?
  let dataChannels: DataChannelTable
  /// The events of the step under way, for the call that caused it.
  private var stepEvents: [Event] = []

  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.events.asUnownedSerialExecutor() }

  public init(on loop: PeerLoop, configuration: Configuration) {
    self.loop = loop
    self.configuration = configuration
    var random = SystemRandomNumberGenerator()
    credentials = IceCredentials(using: &random)
    id = [random.next(), random.next()].map { String($0, radix: 36) }.joined()
    dataChannels = DataChannelTable(options: configuration.dataChannels ?? DataChannelOptions())
    (incomingDataChannels, incomingContinuation) = AsyncStream.makeStream(of: DataChannel.self)
    (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(256))
  }

  // MARK: - Negotiation

  /// Makes an offer, with all our candidates in it.
  public func createOffer() throws -> String {
    try localDescription(after: .createOffer)
  }

  /// Answers a far offer, with all our candidates in it.
  public func answer(to offer: String) throws -> String {
    try localDescription(after: .acceptOffer(offer))
  }

  /// Applies the answer to our offer.
  public func accept(answer: String) throws {
    try checkFailure(perform(.acceptAnswer(answer)))
  }

  /// Adds far candidates that came later, as an RFC 8840 fragment.
  public func addRemoteCandidates(_ fragment: String) throws {
    try checkFailure(perform(.addRemoteCandidates(fragment)))
  }

  // MARK: - Media and life

  /// New bounds for the bitrate we send at.
  public func setBitrates(_ limits: BitrateLimits) { _ = try? perform(.setBitrateLimits(limits)) }

  /// Asks the far sender for a key frame.
  public func requestKeyFrame() { _ = try? perform(.requestKeyFrame) }

  /// Says goodbye and ends. Calling it again does nothing.
  public func close() { _ = try? perform(.close) }

  public func statistics() -> PeerStatistics { slot?.peer.statistics ?? PeerStatistics() }

  // MARK: - On the loop

  private func localDescription(after command: Command) throws -> String {
    let events = try perform(command)
    try checkFailure(events)
    for case .localDescription(let sdp, _) in events { return sdp }
    throw APIMisuse("This connection has ended; make a new one.")
  }

  private func checkFailure(_ events: [Event]) throws {
    for case .negotiationFailed(let failure) in events { throw failure }
  }

  func perform(_ command: Command) throws -> [Event] {
    let slot = try makeSlot()
    stepEvents.removeAll()
    slot.handle(.command(command), now: MonotonicClock.now())
    return stepEvents
  }

  private func makeSlot() throws -> PeerSlot {
    if let slot { return slot }
    let table = loop.table
    guard !table.isFull else { throw TooManyPeers(limit: loop.options.maximumPeers) }
    let new = PeerSlot(
      peer: Peer(peerConfiguration()), ufrag: credentials.usernameFragment, table: table,
      onEvent: { [weak self] event in
        // Events come out of a step, which runs on this actor's own executor.
        self?.assumeIsolated { $0.handle(event) }
      })
    table.insert(new)
    configuration.audio?.attach(new)
    slot = new
    return new
  }

  private func peerConfiguration() -> PeerConfiguration {
    var peer = PeerConfiguration(
      localAddresses: loop.hostAddresses(), certificate: loop.certificate, iceCredentials: credentials,
      seed: UInt64.random(in: .min ... .max))
    if configuration.video != nil {
      var video = PeerConfiguration.OutgoingVideo()
      video.codecs = configuration.videoFormats
      peer.sendsVideo = video
    }
    peer.receivesVideo = configuration.receivesVideo
    peer.sendsAudio = configuration.audio == nil ? nil : PeerConfiguration.OutgoingAudio(opus: configuration.opus)
    peer.receivesAudio = configuration.receivesAudio
    peer.dataChannels = configuration.dataChannels
    peer.bitrates = configuration.bitrates
    peer.audioBitrates = configuration.audioBitrates
    peer.connectTimeout = configuration.connectTimeout
    peer.wallClockOffset = TimeDelta(nanoseconds: WallClock.now() - MonotonicClock.now().nanoseconds)
    return peer
  }

  private func handle(_ event: Event) {
    stepEvents.append(event)
    switch event {
    case .keyFrameRequested: if let slot { configuration.video?.keyFrameRequested(by: slot) }
    case .audioLossReported(let loss):
      if let slot { configuration.audio?.lossReported(loss, by: slot) }
    case .stateChanged(.connected): if let slot { configuration.video?.attach(slot) }
    case .stateChanged(.ended):
      if let slot {
        configuration.video?.detach(slot)
        configuration.audio?.detach(slot)
      }
      continuation.yield(event)
      continuation.finish()
      incomingContinuation.finish()
      return
    case .dataChannel, .dataChannelMade, .dataChannelRefused, .messageRefused:
      if let slot, let channel = dataChannels.handle(event, of: slot, on: loop.events) {
        incomingContinuation.yield(channel)
      }
      return
    default: break
    }
    continuation.yield(event)
  }
}

/// A call that cannot be meant; the sentence says what to do instead.
public struct APIMisuse: Error, CustomStringConvertible, Sendable {
  public let description: String
  init(_ sentence: String) { description = sentence }
}

/// The loop has as many peers as it may.
public struct TooManyPeers: Error, CustomStringConvertible, Sendable {
  public let limit: Int
  public var description: String { "There are already \(limit) peers; try again when some have left." }
}
