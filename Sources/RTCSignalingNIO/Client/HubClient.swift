import NIOCore
import NIOPosix
public import RTCSignaling

/// A client of the hub, by WebSocket (`ws://`, `wss://`): registers under a name, sends to other peers, and reconnects
/// by itself when the connection breaks. Connect once, close once; releasing the client closes it.
///
///     let hub = HubClient(address: address, token: nil)
///     let registration = try await hub.connect(as: "alice")
///     hub.send(.signal(data: CallSignal(call: id, .ring()).json), to: "bob")
///     for await event in hub.events { … }
///
/// Calls may come from any thread and do not wait; messages are sent in the order of the calls.
public final class HubClient: Sendable {
  /// The connection's settings and time limits.
  public struct Configuration: Sendable {
    /// Time-outs, pauses between attempts, and how much waits while there is no connection.
    public var session = HubSession.Options()
    /// Whether others see this client among who is there.
    public var isListed = true
    /// Bytes of a message that the hub may send.
    public var messageBytes = 1_048_576
    /// A PEM file with the certificates to trust; nil for those the system trusts.
    public var trustRootsFile: String?
    /// Decides alone whether the hub's certificate (DER) is the right one, such as by its fingerprint; called on the
    /// client's thread.
    public var trustsCertificate: (@Sendable ([UInt8]) -> Bool)?

    /// The defaults: listed, messages of up to 1 MiB, and the certificates that the system trusts.
    public init() {}
  }

  /// Events from `connect` on; ends after `ended`. For one reader; a reader that is more than 4,096 events behind loses
  /// the oldest.
  public let events: AsyncStream<HubClientEvent>

  private let eventLoop: any EventLoop
  private let link: NIOLoopBoundBox<HubLink>

  /// Makes a client that does nothing before `connect`.
  /// - Parameter token: the hub's token.
  public init(address: HubAddress, token: String? = nil, configuration: Configuration = Configuration()) {
    let (events, continuation) = AsyncStream.makeStream(
      of: HubClientEvent.self, bufferingPolicy: .bufferingNewest(4096))
    self.events = events
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    eventLoop = loop
    link = NIOLoopBoundBox.makeBoxSendingValue(
      HubLink(address: address, token: token, configuration, events: continuation, eventLoop: loop), eventLoop: loop)
  }

  /// Ends as `close` does.
  deinit {
    let link = link
    eventLoop.execute { link.value.handle(.close) }
  }

  /// Connects and registers.
  /// - Parameter name: what others call this client by; nil lets the hub choose.
  public func connect(as name: String?) async throws(HubClientError) -> HubRegistration {
    let link = link
    let promise = eventLoop.makePromise(of: Result<HubRegistration, HubClientError>.self)
    eventLoop.execute { link.value.start(as: name) { promise.succeed($0) } }
    let result: Result<HubRegistration, HubClientError>?
    result = await withTaskCancellationHandler {
      try? await promise.futureResult.get()
    } onCancel: {
      eventLoop.execute { link.value.handle(.close) }
    }
    guard let result else { throw .closed }
    return try result.get()
  }

  /// Waits for the connection where there is none at the moment.
  public func send(_ message: HubMessage, to peer: String) { handle(.send(message, to: peer)) }

  /// Enters a room, and again whenever a restarted hub has forgotten it.
  public func join(_ room: String) { handle(.join(room: room)) }

  /// Leaves a room, and does not enter it again after a reconnection.
  public func leave(_ room: String) { handle(.leave(room: room)) }

  /// The machine's network is back: does not wait for the next attempt, and looks whether the connection still lives.
  public func networkReturned() { handle(.networkReturned) }

  /// Asks who else is there; the answer is `HubClientEvent.present`.
  public func list() { handle(.list) }

  /// Requests the list of other peers and its changes.
  public func follow() { handle(.follow) }

  /// Gives the name back and ends. Returns when the goodbye is out; may be called again.
  public func close() async {
    let link = link
    let promise = eventLoop.makePromise(of: Void.self)
    eventLoop.execute { link.value.close(promise) }
    try? await promise.futureResult.get()
  }

  private func handle(_ input: HubSession.Input) {
    let link = link
    eventLoop.execute { link.value.handle(input) }
  }
}
