import NIOCore

/// One connection to Redis: it signs in, loads the scripts and listens to the channels, and then runs scripts in order.
/// Lives on one event loop and nowhere else.
final class RedisConnection: RedisReceiver {
  /// The owner of a connection.
  protocol Owner: AnyObject {
    func opened(_ connection: RedisConnection)
    func received(_ value: RESPValue, to id: UInt64, _ connection: RedisConnection)
    func published(_ text: [UInt8], on channel: String, _ connection: RedisConnection)
    /// Called once.
    func ended(_ failure: RedisFailure, _ connection: RedisConnection)
  }

  /// A command whose reply has not come.
  private enum Sent {
    case hello
    /// Another step of the way to a usable connection.
    case step
    case load(ClusterScript)
    case subscribe(missing: Int)
    case run(UInt64)
    case publish(UInt64)
  }

  static let setUpTime = TimeAmount.seconds(10)

  private let address: RedisAddress
  private let prefix: String
  private let channels: [String]
  private unowned let owner: any Owner
  private let eventLoop: any EventLoop
  private var channel: (any Channel)?
  private var reader = RESPReader()
  private var sent = CircularBuffer<Sent>()
  private var digests: [ClusterScript: String] = [:]
  private var isReady = false
  /// Whether the server is a node of a Redis Cluster.
  private(set) var isInCluster = false
  private var hasEnded = false
  private var output: [UInt8] = []

  /// Starts connecting.
  init(
    _ address: RedisAddress, prefix: String, channels: [String], owner: any Owner, eventLoop: any EventLoop
  ) {
    (self.address, self.prefix, self.channels, self.owner) = (address, prefix, channels, owner)
    self.eventLoop = eventLoop
  }

  func connect() {
    RedisChannel.open(address, timeout: .seconds(5), eventLoop, self) { [self] channel in
      guard !hasEnded else { return channel.close(promise: nil) }
      self.channel = channel
      setUp()
    }
    eventLoop.assumeIsolated().scheduleTask(in: Self.setUpTime) { [weak self] in
      guard let self, !self.isReady else { return }
      self.end(.timeout)
    }
  }

  private func setUp() {
    var hello = ["HELLO", "3"]
    if let password = address.password { hello += ["AUTH", address.user ?? "default", password] }
    write(hello + ["SETNAME", "rtcast"], .hello)
    if address.database != 0 { write(["SELECT", "\(address.database)"], .step) }
    for script in ClusterScript.allCases { write(["SCRIPT", "LOAD", script.text()], .load(script)) }
    write(["SUBSCRIBE"] + channels, .subscribe(missing: channels.count))
    flush()
  }

  // MARK: - Commands

  func run(_ id: UInt64, _ script: ClusterScript, _ arguments: [String]) {
    let words = digests[script].map { ["EVALSHA", $0] } ?? ["EVAL", script.text()]
    write(words + ["1", prefix] + arguments, .run(id))
  }

  func publish(_ id: UInt64, _ channel: String, _ text: String) { write(["PUBLISH", channel, text], .publish(id)) }

  private func write(_ words: [String], _ command: Sent) {
    guard !hasEnded else { return }
    RESPCommand.append(words, to: &output)
    sent.append(command)
  }

  /// Sends the commands written since the last call.
  func flush() {
    guard let channel, !output.isEmpty else { return }
    channel.writeAndFlush(ByteBuffer(bytes: output), promise: nil)
    output = []
  }

  /// Ends the connection. The owner is not notified.
  func close() {
    hasEnded = true
    channel?.close(promise: nil)
  }

  func end(_ failure: RedisFailure) {
    guard !hasEnded else { return }
    close()
    owner.ended(isReady && failure == .closed ? .ended : failure, self)
  }

  // MARK: - Replies

  func received(_ bytes: ByteBuffer) {
    reader.append(bytes.readableBytesView)
    do {
      while !hasEnded, let value = try reader.read() { take(value) }
      flush()
    } catch { end(.notRedis) }
  }

  private func take(_ value: RESPValue) {
    if case .push(let parts) = value { return takePush(parts) }
    guard let command = sent.popFirst() else { return end(.notRedis) }
    switch (command, value) {
    // The scripts were removed (SCRIPT FLUSH, a restart behind a proxy), and later commands may run before this one. A
    // new connection loads the scripts and repeats what is not answered, in its order.
    case (.run, .error(let text)) where text.hasPrefix("NOSCRIPT"): end(.ended)
    case (.run(let id), _), (.publish(let id), _): owner.received(value, to: id, self)
    case (_, .error(let text)): end(RedisFailure(reply: text))
    case (.load(let script), _):
      guard let digest = value.string, digest.utf8.count == 40 else { return end(.notRedis) }
      digests[script] = digest
    case (.hello, _):
      // A replica in a Redis Cluster names the node that has the keys.
      isInCluster = member("mode", of: value) == "cluster"
      if !isInCluster, let role = member("role", of: value), role != "master" {
        end(.readOnly)
      }
    case (.step, _): break
    case (.subscribe, _): end(.notRedis)
    }
  }

  /// A member of a map, whose names and values come in turn.
  private func member(_ name: String, of map: RESPValue) -> String? {
    let parts = map.elements ?? []
    return parts.firstIndex { $0.string == name }.flatMap { parts.dropFirst($0 + 1).first?.string }
  }

  private func takePush(_ parts: [RESPValue]) {
    switch parts.first?.string {
    case "subscribe":
      guard case .subscribe(let missing)? = sent.first else { return }
      guard missing <= 1 else {
        sent[sent.startIndex] = .subscribe(missing: missing - 1)
        return
      }
      sent.removeFirst()
      isReady = true
      owner.opened(self)
    case "message":
      guard parts.count == 3, let channel = parts[1].string, case .text(let text) = parts[2] else { return }
      owner.published(text, on: channel, self)
    default: break
    }
  }
}
