import RTCSignalingNIO
import RTCast

/// The report of a cast to the service manager: that it is ready, and how many viewers it has.
struct CastService {
  /// The place where the cast is watched, or where it is sent, without a secret.
  private let place: String
  private let isPublishing: Bool
  private var viewers = 0
  private var stall: String?

  /// A cast with a server of its own is ready at once, another one when it is published.
  init(_ server: SignalingServer?, destination: String?) {
    isPublishing = server == nil
    place = server.map { $0.localAddress.link(token: nil, isSecure: $0.isSecure) } ?? destination ?? ""
    ServiceNotifier.current?.tell(status: sentence)
    if !isPublishing { ServiceNotifier.current?.tell(.ready) }
  }

  func isPublished() { ServiceNotifier.current?.tell(.ready) }

  mutating func note(_ event: BroadcastEvent) {
    switch event {
    case .viewerJoined: viewers += 1
    case .viewerLeft: viewers = max(0, viewers - 1)
    case .sourceStalled(let sentence): stall = sentence
    case .sourceResumed: stall = nil
    default: return
    }
    ServiceNotifier.current?.tell(status: sentence)
  }

  private var sentence: String {
    let verb = isPublishing ? "Sending to" : "Casting at"
    let audience = isPublishing ? "" : ": \(viewers) viewer\(viewers == 1 ? "" : "s")"
    return "\(verb) \(place)\(audience)." + (stall.map { " \($0)" } ?? "")
  }
}
