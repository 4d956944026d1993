import RTCEngine
public import RTCMedia
public import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO

/// A viewer of one cast: connects to a WHEP service, or by descriptions that an application exchanges, and makes tracks
/// of the received media. Sends no media.
public actor Watching {
  /// An event of a `Watching`.
  public enum Event: Sendable {
    /// Media flows.
    case connected
    /// A video began.
    case videoAdded(RemoteVideoTrack)
    /// The video has ended.
    case videoRemoved(RemoteVideoTrack)
    /// Played by the audio device already.
    case audioAdded(RemoteAudioTrack)
    /// The audio has ended.
    case audioRemoved(RemoteAudioTrack)
    /// Something does not work; the sentence says what.
    case warning(String)
    /// The last; nil when one of the two ended it, else why it ended.
    case ended(PublishFailure?)
  }

  /// Events in order. For one reader.
  public nonisolated let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation
  private let peers: PeerLoop
  private let options: PeerConnection.Configuration
  private let loudspeaker: Loudspeaker
  /// The connection made by descriptions that an application exchanges.
  private var connection: PeerConnection?
  /// To a service.
  private var driver: WHIPDriver?
  private var following: [Task<Void, Never>] = []
  /// The connection that was made last.
  private var latest: PeerConnection?

  /// - Parameters:
  ///   - peers: the media plane.
  ///   - audioDevice: its loudspeaker plays the sound; nil: only sinks of the tracks receive the sound.
  public init(
    peers: PeerLoop, configuration: CallConfiguration = CallConfiguration(), audioDevice: (any AudioDevice)? = nil,
    codecs: CodecRegistry = .standard
  ) {
    loudspeaker = Loudspeaker(audioDevice ?? SilentAudioDevice())
    var options = PeerConnection.Configuration()
    options.receivesVideo = true
    options.receivesAudio = true
    options.receivableFormats = codecs.receivableFormats
    options.videoDecoders = codecs.videoDecoders
    options.audioDecoder = codecs.audioDecoderOfPeer
    options.connectTimeout = configuration.connectionTimeout
    options.iceServers = configuration.iceServers
    options.iceTransportPolicy = configuration.iceTransportPolicy
    options.ownsPort = true
    (self.peers, self.options) = (peers, options)
    (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(1_024))
  }

  /// Watches a stream of a WHEP service, and returns when the service's answer is applied. If the connection is lost,
  /// it is re-established for a limited time. If the service closes it, watching ends. `close` deletes the resource.
  /// - Parameter url: the service's address, or that of a page served by `rtcast` (its endpoint is `/whep`).
  public func watch(_ url: String, token: String?) async throws(PublishFailure) {
    let endpoint = WebAddress(url).flatMap(Self.service)?.description ?? url
    do {
      // WHEP's exchange is WHIP's, with the media going the other way.
      var session = WHIPSession.Options()
      (session.endsAtGoodbye, session.persistence) = (true, .seconds(30))
      let driver = try WHIPDriver(endpoint, token: token, options: session, owner: viewer(url))
      self.driver = driver
      try await driver.begin()
    } catch {
      await close()
      throw PublishFailure(error, url: url)
    }
  }

  /// The WHEP endpoint of a page served by `rtcast`; nil for any other address.
  private static func service(of page: WebAddress) -> WebAddress? {
    let path = page.target.prefix { $0 != "?" }
    guard path == "/" || path == "/watch" || path == "/watch/" else { return nil }
    let query = page.target.dropFirst(path.count + 1).split(separator: "&")
    let stream = query.first { $0.hasPrefix("stream=") }.map { "/" + $0.dropFirst(7) } ?? ""
    return page.resolving("/whep" + stream)
  }

  private func viewer(_ url: String) -> WHIPDriver.Owner {
    let (peers, options, continuation) = (peers, options, continuation)
    return WHIPDriver.Owner(
      iceServers: options.iceServers,
      makeConnection: { servers in
        var options = options
        options.iceServers = servers
        options.ownsPort = true
        return PeerConnection(on: peers, configuration: options)
      },
      follow: { [weak self] connection, driver in
        await self?.follow(connection) { event in await driver.hear(event, of: connection) }
      },
      report: { event in
        switch event {
        case .interrupted(let loss, _): continuation.yield(.warning(loss.sentence + " Reconnecting."))
        case .refused(let error, _): continuation.yield(.warning("\(error)"))
        case .resumed, .restarted: break
        }
      },
      whenEnded: { ending in
        switch ending {
        case .left, .disconnected(.closedLocally), .disconnected(.closedRemotely):
          continuation.yield(.ended(nil))
        case .disconnected(let reason): continuation.yield(.ended(PublishFailure(reason)))
        case .failed(let error): continuation.yield(.ended(PublishFailure(error, url: url)))
        }
      })
  }

  /// Answers the offer of a remote peer that is reached any other way.
  /// - Returns: our answer, to be taken there.
  public func answer(to offer: String) async throws(PublishFailure) -> String {
    let connection = PeerConnection(on: peers, configuration: options)
    self.connection = connection
    let continuation = continuation
    follow(connection) { event in
      guard case .stateChanged(.ended(let reason)) = event else { return }
      let isRegular = reason == .closedLocally || reason == .closedRemotely
      continuation.yield(.ended(isRegular ? nil : PublishFailure(reason)))
    }
    do { return try await connection.answer(to: offer) } catch {
      await close()
      throw PublishFailure(error, url: "the remote peer")
    }
  }

  /// The code of the cast's and our certificates; see `PeerStatistics.keyCode`. Nil when nothing is connected.
  public func keyCode() async -> String? { await latest?.statistics().keyCode }

  /// Says goodbye. Returns when that is out; may be called again.
  public func close() async {
    await driver?.leave()
    await connection?.close()
    for task in following { await task.value }
    loudspeaker.stop()
    continuation.finish()
  }

  /// - Parameter hear: receives every event that does not belong to a track.
  private func follow(
    _ connection: PeerConnection, _ hear: @escaping @Sendable (PeerConnectionEvent) async -> Void
  ) {
    latest = connection
    let continuation = continuation
    let reception = Reception(loudspeaker: loudspeaker) { event in
      switch event {
      case .videoAdded(let track): continuation.yield(.videoAdded(track))
      case .videoRemoved(let track): continuation.yield(.videoRemoved(track))
      case .videoChanged: break
      case .audioAdded(let track): continuation.yield(.audioAdded(track))
      case .audioRemoved(let track): continuation.yield(.audioRemoved(track))
      case .warning(let sentence): continuation.yield(.warning(sentence))
      }
    }
    following.append(
      Task {
        await reception.follow(connection) { event in
          if case .stateChanged(.connected) = event { continuation.yield(.connected) }
          await hear(event)
        }
      })
  }
}
