import ArgumentParser
import Logging
import RTCMedia
import RTCSignaling
import RTCast

struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Watch a cast in a window, or only record it.",
    discussion: """
      Takes the URL of a WHEP service or of a page that `rtcast` prints, or a peer at a hub by its name. Sends nothing.

      Examples:
        rtcast watch http://127.0.0.1:8080/
        rtcast watch https://sfu.example/whep/talk --token s3cret --record talk.mkv
        rtcast watch alice --server wss://hub.example
        rtcast watch manual
            the descriptions of `rtcast screen --to manual` by copy and paste
      """)

  @Argument(help: ArgumentHelp("URL, NAME, room:NAME, wss://host/NAME or manual.", valueName: "what"))
  var what: String

  @OptionGroup var hub: HubOptions
  @OptionGroup var receive: ReceiveOptions

  func validate() throws { _ = try CastTarget(parsing: what) }

  func run() async throws {
    let logger = StandardErrorLog.logger(verbosity: receive.verbose)
    switch try CastTarget(parsing: what) {
    case .whip(let url):
      try await WatchRunner(.service(url, token: receive.token?.text ?? Self.token(in: url)), hub, receive, logger)
        .run()
    case .manual: try await WatchRunner(.manual, hub, receive, logger).run()
    case .hub(let target):
      let plan: CallPlan
      do throws(CastFailure) { plan = try self.plan(target) } catch {
        CallOutput(isJSON: receive.json).failed(error)
        throw error.status.code
      }
      try await CallRunner(plan, logger: logger).run()
    }
  }

  private func plan(_ target: HubTarget) throws(CastFailure) -> CallPlan {
    var plan = CallPlan(target: .place(target.place), hub: try hub.hub(for: target))
    plan.name = hub.ownName
    plan.token = receive.token?.text
    if let preset = receive.preset { plan.configuration = CallConfiguration(preset) }
    plan.showsWindow = !hub.hidesWindow
    plan.record = receive.record
    plan.duration = receive.duration
    plan.isJSON = receive.json
    return plan
  }

  /// The links that `rtcast` prints carry the token behind a #.
  private static func token(in url: String) -> String? {
    guard let mark = url.firstIndex(of: "#") else { return nil }
    let fragment = url[url.index(after: mark)...]
    return String(fragment.hasPrefix("token=") ? fragment.dropFirst(6) : fragment)
  }
}
