import RTCEngine
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO

extension Broadcast {
  /// Publishes to a WHIP service (RFC 9725) and returns when its answer is applied. From then on the broadcast is
  /// published again whenever the connection or the service is lost, until the broadcast stops or the service refuses;
  /// see `BroadcastEvent.publishInterrupted`, `publishResumed`, `publishEnded` and `publishFailed`. The resource is
  /// deleted when the broadcast stops.
  public func publish(to url: String, token: String?) async throws(PublishFailure) {
    do {
      let driver = try WHIPDriver(url, token: token, owner: publisher(url))
      publications.add(driver)
      do { try await driver.begin() } catch {
        publications.remove(driver)
        throw error
      }
    } catch {
      throw PublishFailure(error, url: url)
    }
  }

  /// Holds no reference to this broadcast, so that its owner decides how long it lasts.
  private func publisher(_ url: String) -> WHIPDriver.Owner {
    let (viewers, report, hasVideo, codecs) = (viewers, report, hasVideo, videoCodecs)
    return WHIPDriver.Owner(
      makeConnection: { servers in
        viewers.makeConnection { configuration in
          configuration.iceServers = servers
          // Two publications to one port of a server could not be distinguished.
          configuration.ownsPort = true
          // Behind a service a request after a rest comes from a viewer who has just joined.
          configuration.ignoresRedundantPLI = false
        }
      },
      follow: { connection, driver in
        viewers.follow(connection, onEvent: { event in await driver.hear(event, of: connection) })
      },
      report: { event in
        switch event {
        case .interrupted(let loss, let pause): report(.publishInterrupted(sentence: loss.sentence, retryIn: pause))
        case .refused(let error, let pause): report(.publishInterrupted(sentence: "\(error)", retryIn: pause))
        case .resumed: report(.publishResumed)
        case .restarted: break
        }
      },
      whenEnded: { ending in
        switch ending {
        case .left: report(.publishEnded(.closedLocally))
        case .disconnected(let reason): report(.publishEnded(reason))
        case .failed(let error): report(.publishFailed(PublishFailure(error, url: url)))
        }
      },
      objection: { connection in
        guard hasVideo, await connection.statistics().videoFormats.isEmpty else { return nil }
        return PublishFailure(
          kind: .notPermitted,
          sentence: "\(url) takes no video: it turned down \(codecs.joined(separator: " and ")), which it was offered."
            + (codecs.contains("H264") ? "" : " Most services take H264; offer it with --codec H264."))
      })
  }
}

extension Broadcast {
  /// Sends to a remote peer whose answer arrives by other means, such as copy and paste, and returns when the answer is
  /// applied. The end of the connection is reported as `BroadcastEvent.publishEnded`.
  /// - Parameter exchange: delivers our offer and returns the answer, both SDP.
  public func connect(
    _ exchange: @Sendable (_ offer: String) async throws -> String
  ) async throws(PublishFailure) {
    let connection = viewers.makeConnection()
    do {
      try await connection.accept(answer: try await exchange(try await connection.createOffer()))
      viewers.follow(connection, onEnd: { [report] reason in report(.publishEnded(reason)) })
    } catch {
      await connection.close()
      throw PublishFailure(error, url: "the remote peer")
    }
  }
}
