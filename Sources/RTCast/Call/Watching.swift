import RTCEngine
public import RTCMedia
public import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO

/// One cast as a viewer has it: connects to a WHEP service, or by descriptions that travel any other way, and makes tracks
/// of what comes. Sends nothing.
public actor Watching {
  /// What happens to what is watched.
  public enum Event: Sendable {
    /// Media flows.
    case connected
    /// A video began.
    case videoAdded(RemoteVideoTrack)
    /// It ended.
    case videoRemoved(RemoteVideoTrack)
    /// Played by the audio device already.
    case audioAdded(RemoteAudioTrack)
    /// It ended.
    case audioRemoved(RemoteAudioTrack)
    /// Something does not work; the sentence says what.
    case warning(String)
    /// The last; nil when one of the two ended it, else a sentence.
    case ended(sentence: String?)
  }

  /// What happens, in order. One reader.
  public nonisolated let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation
  private let connection: PeerConnection
  private let loudspeaker: Loudspeaker
  private var following: Task<Void, Never>?
  private var cleanUp: (@Sendable () async -> Void)?

  /// - Parameters:
  ///   - peers: the media plane.
  ///   - audioDevice: whose loudspeaker plays the sound; nil: only those who listen to the tracks hear it.
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
    options.audioDecoder = codecs.audioDecoder
    options.connectTimeout = configuration.connectionTimeout
    options.iceServers = configuration.iceServers
    options.iceTransportPolicy = configuration.iceTransportPolicy
    options.ownsPort = true
    connection = PeerConnection(on: peers, configuration: options)
    (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(1_024))
  }

  /// Watches what a WHEP service has. The resource is deleted by `close`.
  /// - Parameter url: of the service, or of a page that `rtcast` serves (then `/whep` there).
  public func watch(_ url: String, token: String?) async throws(PublishFailure) {
    var endpoint = url
    if let address = WebAddress(url), address.target == "/", let service = address.resolving("/whep") {
      endpoint = service.description
    }
    let client = WHIPClient()
    do {
      // WHEP's exchange is WHIP's, with the media going the other way.
      let publication = try await client.publish(to: endpoint, token: token, offer: try await connection.createOffer())
      follow()
      cleanUp = {
        try? await client.delete(publication)
        await client.shutdown()
      }
      try await connection.accept(answer: publication.answer)
    } catch {
      await client.shutdown()
      await close()
      throw PublishFailure(error, url: url)
    }
  }

  /// Answers the offer of a remote peer that is reached any other way.
  /// - Returns: our answer, to be taken there.
  public func answer(to offer: String) async throws(PublishFailure) -> String {
    follow()
    do { return try await connection.answer(to: offer) } catch {
      await close()
      throw PublishFailure(error, url: "the remote peer")
    }
  }

  /// Says goodbye. Returns when that is out; may be called again.
  public func close() async {
    await connection.close()
    await following?.value
    await cleanUp?()
    cleanUp = nil
    loudspeaker.stop()
    continuation.finish()
  }

  private func follow() {
    guard following == nil else { return }
    let (connection, continuation) = (connection, continuation)
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
    following = Task {
      var end: EndReason?
      await reception.follow(connection) { event in
        switch event {
        case .stateChanged(.connected): continuation.yield(.connected)
        case .stateChanged(.ended(let reason)): end = reason
        default: break
        }
      }
      guard let end else { return }
      let isRegular = end == .closedLocally || end == .closedRemotely
      continuation.yield(.ended(sentence: isRegular ? nil : "The connection ended: \(end.sentence)"))
    }
  }
}
