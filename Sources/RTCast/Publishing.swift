import RTCEngine
import RTCPeer
import RTCSignaling
import RTCSignalingNIO

extension Broadcast {
  /// Publishes to a WHIP service (RFC 9725) and returns when its answer is applied. The end of the connection comes as
  /// `BroadcastEvent.publishEnded`; the resource is deleted when the broadcast stops.
  public func publish(to url: String, token: String?) async throws(PublishFailure) {
    let client = WHIPClient()
    let connection = viewers.makeConnection()
    do {
      let offer = try await connection.createOffer()
      let publication = try await client.publish(to: url, token: token, offer: offer)
      try await connection.accept(answer: publication.answer)
      viewers.follow(connection) { [report] reason in
        report(.publishEnded(reason))
      } cleanUp: {
        try? await client.delete(publication)
        await client.shutdown()
      }
    } catch {
      await connection.close()
      await client.shutdown()
      throw PublishFailure(error, url: url)
    }
  }
}

extension Broadcast {
  /// Sends to a remote peer whose answer comes by any other way, such as by hand, and returns when the answer is applied. The
  /// end of the connection comes as `BroadcastEvent.publishEnded`.
  /// - Parameter exchange: takes our offer there and brings the answer, both SDP.
  public func connect(
    _ exchange: @Sendable (_ offer: String) async throws -> String
  ) async throws(PublishFailure) {
    let connection = viewers.makeConnection()
    do {
      try await connection.accept(answer: try await exchange(try await connection.createOffer()))
      viewers.follow(connection) { [report] reason in report(.publishEnded(reason)) }
    } catch {
      await connection.close()
      throw PublishFailure(error, url: "the remote peer")
    }
  }
}
