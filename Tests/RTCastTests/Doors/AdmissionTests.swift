import RTCNet
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCast
import Synchronization
import Testing

/// A presenter who decides later.
private final class Presenter: ViewerAdmission {
  private struct State {
    var waiting: [CheckedContinuation<Bool, Never>] = []
  }

  private let limit: TimeDelta
  private let state = Mutex(State())
  private let requests = AsyncStream.makeStream(of: ViewerRequest.self)

  init(limit: TimeDelta = .seconds(5)) { self.limit = limit }

  func decide(on request: ViewerRequest) -> AdmissionDecision {
    .waits(limit: limit) {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          self.state.withLock { $0.waiting.append(continuation) }
          self.requests.continuation.yield(request)
        }
      } onCancel: {
        self.answer(false)
      }
    }
  }

  /// Waits for a viewer.
  func nextRequest() async -> ViewerRequest? {
    var iterator = requests.stream.makeAsyncIterator()
    return await iterator.next()
  }

  func answer(_ isAdmitted: Bool) {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: isAdmitted) }
  }
}

/// Viewers that wait for an answer before they are admitted.
@Suite(.timeLimit(.minutes(1))) struct AdmissionTests {
  private let (ours, theirs): (PeerLoop, PeerLoop)
  private let source = HandCapturer()

  init() throws {
    var options = PeerLoop.Options()
    options.includesLoopback = true
    (ours, theirs) = (try PeerLoop(options), try PeerLoop(options))
  }

  private func broadcast(_ presenter: Presenter, viewers: Int = 10) async throws -> Broadcast {
    var options = Broadcast.Options()
    options.admission = presenter
    options.maximumViewers = viewers
    let broadcast = Broadcast(source, options: options, peers: ours)
    try await broadcast.start()
    return broadcast
  }

  /// Asks as a viewer's page does.
  private func ask(_ broadcast: Broadcast) async throws -> Task<Result<WHEPAnswer, any Error>, Never> {
    var configuration = PeerConnection.Configuration()
    configuration.receivesVideo = true
    let connection = PeerConnection(on: theirs, configuration: configuration)
    let offer = try await connection.createOffer()
    let whep = broadcast.whep
    return Task {
      do { return .success(try await whep.open(stream: nil, offer: offer, remote: "127.0.0.1")) } catch {
        return .failure(error)
      }
    }
  }

  private func refusal(_ asking: Task<Result<WHEPAnswer, any Error>, Never>) async -> WHEPRefusal? {
    if case .failure(let error) = await asking.value { error as? WHEPRefusal } else { nil }
  }

  private func end(_ broadcast: Broadcast) async {
    await broadcast.stop()
    ours.stop()
    theirs.stop()
  }

  @Test func `a viewer waits for the presenter's answer and is admitted`() async throws {
    let presenter = Presenter()
    let broadcast = try await broadcast(presenter)
    let asking = try await ask(broadcast)
    #expect(await presenter.nextRequest()?.remote == "127.0.0.1")
    #expect(await broadcast.statistics().sessions == 0)
    presenter.answer(true)
    #expect(try await asking.value.get().answer.hasPrefix("v=0"))
    await end(broadcast)
  }

  @Test func `a viewer whom the presenter refuses is told so`() async throws {
    let presenter = Presenter()
    let broadcast = try await broadcast(presenter)
    let asking = try await ask(broadcast)
    _ = await presenter.nextRequest()
    presenter.answer(false)
    #expect(await refusal(asking) == .notAdmitted)
    await end(broadcast)
  }

  @Test func `without an answer in time the viewer is asked to try again`() async throws {
    let presenter = Presenter(limit: .milliseconds(20))
    let broadcast = try await broadcast(presenter)
    let asking = try await ask(broadcast)
    let refusal = await refusal(asking)
    #expect(refusal == .admissionPending && refusal?.retryAfter == 1)
    await end(broadcast)
  }

  @Test func `a viewer that leaves meanwhile gives its place to another`() async throws {
    let presenter = Presenter()
    let broadcast = try await broadcast(presenter, viewers: 1)
    let leaving = try await ask(broadcast)
    _ = await presenter.nextRequest()
    let second = try await ask(broadcast)
    #expect(await refusal(second) == .tooManyViewers(limit: 1), "the first viewer waits in the only place")
    leaving.cancel()
    #expect(await refusal(leaving) == .admissionPending)
    let third = try await ask(broadcast)
    _ = await presenter.nextRequest()
    presenter.answer(true)
    #expect(try await third.value.get().answer.hasPrefix("v=0"))
    await end(broadcast)
  }
}
