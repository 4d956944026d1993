/// The places from which this process takes commands: standard input, a socket, or both.
struct ControlInlets: Sendable {
  private let readsStandardInput: Bool
  private let socket: ControlSocket?

  /// Makes the socket, so that a path that cannot be had is known before anything else begins.
  /// - Parameter options: nil for a command without `--control`.
  init(_ options: ControlOptions?) throws(CastFailure) {
    readsStandardInput = options?.readsStandardInput == true
    socket = try options?.socket.map { place throws(CastFailure) in try ControlSocket(at: place) }
  }

  /// Begins to read.
  /// - Parameters:
  ///   - respond: takes answers to standard input.
  ///   - deliver: takes each request; must not wait.
  func start(
    respond: @escaping @Sendable (ControlReply) -> Void, deliver: @escaping @Sendable (ControlRequest) -> Void
  ) throws(CastFailure) {
    if readsStandardInput { ControlInput.read(respond: respond, deliver: deliver) }
    try socket?.start(deliver: deliver)
  }

  /// Removes the socket. The last thing that a command does, so that a client that waits for it finds all else done.
  func close() { socket?.close() }
}
