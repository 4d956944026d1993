import RTCNet
import RTCPeer
import RTCPrimitives
import RTCSignaling

/// A connection between two ends in this process, by the routes to check.
struct ICEConnectionCheck: Sendable {
  /// How a line about it begins.
  let name: String
  /// The options of both ends.
  let options: PeerLoop.Options

  /// For a connection to be made.
  static let patience = TimeDelta.seconds(10)

  func run() async -> Check {
    let outcome: Result<Outcome, Failure>
    do {
      let loops = [try PeerLoop(options), try PeerLoop(options)]
      defer { for loop in loops { loop.stop() } }
      outcome = await connect(loops)
    } catch {
      outcome = .failure(Failure(sentence: "\(error)"))
    }
    switch outcome {
    case .success(let found):
      var check = Check.works(
        name,
        "connected after \(Figures.milliseconds(found.time.inMilliseconds))\(found.route.map { ", by \($0)" } ?? "")")
      check.details = [
        ("connected_ms", .number(found.time.inMilliseconds)), ("remote", .optional(found.route)), ("failure", .null),
      ]
      return check
    case .failure(let failure):
      var check = Check.fails(
        name, failure.sentence, advice: "Does the server relay to itself, and does a firewall let its relay ports in?")
      check.details = [("connected_ms", .null), ("remote", .null), ("failure", .string(failure.sentence))]
      return check
    }
  }

  private struct Outcome {
    var time: TimeDelta
    /// The remote address of the first end.
    var route: String?
  }

  private struct Failure: Error {
    var sentence: String
  }

  private func connect(_ loops: [PeerLoop]) async -> Result<Outcome, Failure> {
    var configuration = PeerConnection.Configuration()
    configuration.connectTimeout = Self.patience
    let (first, second) = (
      PeerConnection(on: loops[0], configuration: configuration),
      PeerConnection(on: loops[1], configuration: configuration)
    )
    let result: Result<Outcome, Failure>
    do {
      _ = try await first.createDataChannel("check")
      await first.gathered(within: .seconds(5))
      await second.gathered(within: .seconds(5))
      let start = MonotonicClock.now()
      let answer = try await second.answer(to: try await first.createOffer())
      try await first.accept(answer: answer)
      async let far: Failure? = Self.follow(second, telling: first)
      let near = await Self.follow(first, telling: second)
      for failure in [near, await far] { if let failure { throw failure } }
      let route = await first.statistics().selectedRoute?.remote.description
      result = .success(Outcome(time: MonotonicClock.now() - start, route: route))
    } catch let failure as Failure {
      result = .failure(failure)
    } catch {
      result = .failure(Failure(sentence: "\(error)"))
    }
    await first.close()
    await second.close()
    return result
  }

  /// Until it is connected, or has ended; nil: connected.
  private static func follow(_ connection: PeerConnection, telling other: PeerConnection) async -> Failure? {
    for await event in connection.events {
      switch event {
      case .stateChanged(.connected): return nil
      case .stateChanged(.ended(let reason)): return Failure(sentence: "no connection: \(reason.word)")
      case .localCandidate(let candidate): try? await other.addRemoteCandidate(candidate)
      default: continue
      }
    }
    return Failure(sentence: "no connection")
  }
}
