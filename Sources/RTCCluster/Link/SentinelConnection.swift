import NIOCore

/// A connection to a sentinel for one question. Lives on one event loop and nowhere else.
final class SentinelConnection: RedisReceiver {
  private enum Stage {
    case asking
    /// The sentinel requires a password. Its reply to the password comes first.
    case authenticating
    case askingAgain
    case done
  }

  /// For the answer of one sentinel.
  static let patience = TimeAmount.seconds(1)

  private let address: RedisAddress
  private let question: [String]
  private let eventLoop: any EventLoop
  private let answered: (Result<RESPValue, RedisFailure>) -> Void
  private var channel: (any Channel)?
  private var reader = RESPReader()
  private var stage = Stage.asking

  /// - Parameter answered: called once, unless the connection is closed before.
  init(
    _ address: RedisAddress, _ question: [String], _ eventLoop: any EventLoop,
    _ answered: @escaping (Result<RESPValue, RedisFailure>) -> Void
  ) {
    (self.address, self.question, self.eventLoop, self.answered) = (address, question, eventLoop, answered)
  }

  func ask() {
    RedisChannel.open(address, timeout: Self.patience, eventLoop, self) { [self] channel in
      guard stage != .done else { return channel.close(promise: nil) }
      self.channel = channel
      write([question])
    }
    eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [weak self] in self?.end(.timeout) }
  }

  /// Ends the connection. Nothing is answered.
  func close() {
    stage = .done
    channel?.close(promise: nil)
  }

  private func write(_ commands: [[String]]) {
    var bytes: [UInt8] = []
    for command in commands { RESPCommand.append(command, to: &bytes) }
    channel?.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
  }

  func received(_ bytes: ByteBuffer) {
    reader.append(bytes.readableBytesView)
    do {
      while stage != .done, let value = try reader.read() { take(value) }
    } catch { end(.notRedis) }
  }

  private func take(_ value: RESPValue) {
    switch (stage, value) {
    case (.asking, .error(let text)) where text.hasPrefix("NOAUTH"):
      guard let password = address.password else { return end(.passwordNeeded) }
      stage = .authenticating
      write([["AUTH"] + (address.user.map { [$0] } ?? []) + [password], question])
    case (.authenticating, .error(let text)): end(RedisFailure(reply: text))
    case (.authenticating, _): stage = .askingAgain
    case (.asking, _), (.askingAgain, _):
      close()
      answered(.success(value))
    case (.done, _): break
    }
  }

  func end(_ failure: RedisFailure) {
    guard stage != .done else { return }
    close()
    answered(.failure(failure))
  }
}
