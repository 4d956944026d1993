import RTCICE
import RTCPeer
import Synchronization

/// Reports once why a viewer is not connected: three seconds after its offer was answered, or at its end if that comes first.
final class ViewerDelay: Sendable {
  private static let patience = Duration.seconds(3)

  private let connection: PeerConnection
  private let address: String
  private let report: @Sendable (BroadcastEvent) -> Void
  private let isOver = Atomic(false)
  private let timer = Mutex<Task<Void, Never>?>(nil)

  /// - Parameters:
  ///   - connection: the viewer's connection.
  ///   - address: the address from which it asked.
  init(of connection: PeerConnection, from address: String, _ report: @escaping @Sendable (BroadcastEvent) -> Void) {
    (self.connection, self.address, self.report) = (connection, address, report)
    timer.withLock {
      $0 = Task { [weak self] in
        if (try? await Task.sleep(for: Self.patience)) != nil { await self?.tell() }
      }
    }
  }

  /// Reports the reason now, unless it was reported, or is not known.
  func tell() async {
    guard !isOver.load(ordering: .relaxed), let diagnosis = await connection.diagnosis(),
      !isOver.exchange(true, ordering: .relaxed)
    else { return }
    report(
      .viewerDelayed(id: connection.id, from: address, cause: diagnosis.summary, sentence: diagnosis.sentence))
  }

  /// The viewer is connected, or gone.
  func end() {
    isOver.store(true, ordering: .relaxed)
    timer.withLock { $0?.cancel() }
  }
}
