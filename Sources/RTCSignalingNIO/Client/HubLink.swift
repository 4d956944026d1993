import NIOCore
import RTCPrimitives
import RTCSignaling

/// Gives a hub session its socket, its clock and its random numbers. Lives on one event loop and nowhere else.
final class HubLink {
  private typealias Outcome = Result<HubRegistration, HubClientError>

  private let address: HubAddress
  private let token: String?
  private let configuration: HubClient.Configuration
  private let events: AsyncStream<HubClientEvent>.Continuation
  private let eventLoop: any EventLoop
  private var session: HubSession?
  private var whenDecided: ((Result<HubRegistration, HubClientError>) -> Void)?
  private var socket: HubSocket?
  /// The number of the present attempt to connect; reports of others are ignored.
  private var attempt: UInt64 = 0
  private let timer: DeadlineTimer

  init(
    address: HubAddress, token: String?, _ configuration: HubClient.Configuration,
    events: AsyncStream<HubClientEvent>.Continuation, eventLoop: any EventLoop
  ) {
    self.address = address
    self.token = token
    self.configuration = configuration
    self.events = events
    self.eventLoop = eventLoop
    timer = DeadlineTimer(eventLoop: eventLoop)
  }

  func start(as name: String?, _ whenDecided: @escaping (Result<HubRegistration, HubClientError>) -> Void) {
    if let session { return whenDecided(.failure(session.hasEnded ? .closed : .alreadyConnected)) }
    self.whenDecided = whenDecided
    session = makeSession(name)
    handle(.start)
  }

  private func makeSession(_ name: String?) -> HubSession {
    var generator = SystemRandomNumberGenerator()
    return HubSession(
      address: address, name: name, token: token, secret: Self.secret(), isListed: configuration.isListed,
      options: configuration.session, seed: generator.next())
  }

  func handle(_ input: HubSession.Input) {
    guard let actions = session?.handle(input, now: DeadlineTimer.now) else { return }
    for action in actions { perform(action) }
    timer.set(session?.deadline) { [weak self] in self?.handle(.deadline) }
  }

  func close(_ promise: EventLoopPromise<Void>) {
    if session == nil { session = makeSession(nil) }
    let socket = socket
    handle(.close)
    guard let socket else { return promise.succeed(()) }
    socket.whenGone.cascade(to: promise)
  }

  private func perform(_ action: HubSession.Action) {
    switch action {
    case .connect: connect()
    case .send(let text): socket?.send(text)
    case .ping: socket?.ping()
    case .disconnect:
      attempt += 1
      socket?.goodbye()
      socket = nil
    case .report(let event): report(event)
    }
  }

  private func report(_ event: HubClientEvent) {
    events.yield(event)
    switch event {
    case .registered(let registration): decide(.success(registration))
    case .ended(let error):
      decide(.failure(error ?? .closed))
      events.finish()
    default: break
    }
  }

  private func decide(_ outcome: Result<HubRegistration, HubClientError>) {
    whenDecided?(outcome)
    whenDecided = nil
  }

  // MARK: - Connections

  private func connect() {
    attempt += 1
    let number = attempt
    let opening = HubDialing.connect(to: address, configuration, on: eventLoop) { HubSocket(eventLoop: $0) }
    opening.assumeIsolated().whenComplete { [self] result in
      guard number == attempt else {
        if case .success(let socket) = result { socket.value.goodbye() }
        return
      }
      switch result {
      case .success(let socket):
        self.socket = socket.value
        socket.value.link = NumberedLink(link: self, number: number)
        handle(.opened)
      case .failure(let error): handle(.failed(HubDialing.explain(error, at: address, configuration)))
      }
    }
  }

  /// Handles an input of a socket.
  func hear(_ input: HubSession.Input, from number: UInt64) {
    guard number == attempt else { return }
    if case .closed = input { socket = nil }
    handle(input)
  }

  // MARK: - Time and chance

  private static func secret() -> String {
    var generator = SystemRandomNumberGenerator()
    let digits = Array("0123456789abcdef")
    return String((0..<32).map { _ in digits[Int.random(in: 0..<16, using: &generator)] })
  }
}
