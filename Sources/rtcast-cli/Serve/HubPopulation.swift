import RTCSignaling
import RTCast

/// How many peers and streams a hub has, for the service manager's status line.
struct HubPopulation {
  /// The hub's address, without its secret.
  let place: String
  private var peers = 0
  private var streams = 0

  init(place: String) { self.place = place }

  mutating func note(_ event: HubEvent) {
    switch event {
    case .registered: peers += 1
    case .left: peers = max(0, peers - 1)
    case .resumed: break
    }
  }

  mutating func note(_ event: StreamRelay.Event) {
    switch event {
    case .published: streams += 1
    case .ended: streams = max(0, streams - 1)
    case .undecodable: break
    }
  }

  var sentence: String {
    "Serving at \(place): \(peers) peer\(peers == 1 ? "" : "s"), \(streams) stream\(streams == 1 ? "" : "s")."
  }
}
