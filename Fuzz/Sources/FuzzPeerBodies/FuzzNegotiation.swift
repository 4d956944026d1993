import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCSCTP
import RTCTestKit
import RTCWire

/// Two peers on virtual time whose owners, descriptions and network are controlled by the input: a list of steps, the
/// kind first, then its values. The first byte chooses between two modes. In the honest one, descriptions are exchanged
/// by perfect negotiation, and both sides agree in the end, whatever changed and whatever the network did. In the wild
/// one, descriptions are repeated, late, mutilated or invented, and a refused one has changed nothing.
public func fuzzNegotiation(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  guard let model = NegotiationModel(flags: reader.readUInt8() ?? 0) else { return }
  var steps = 0
  while steps < 150, let kind = reader.readUInt8() {
    model.run(kind, &reader)
    steps += 1
  }
  model.finish()
}

private final class NegotiationModel {
  private static let directions: [MediaDirection] = [.sendrecv, .sendonly, .recvonly, .inactive]
  /// Virtual time costs real time while media flows.
  private static let longestGame = TimeDelta.seconds(15)

  private let pair: PeerPair
  private let isHonest: Bool
  private let start: Timestamp
  /// The descriptions made so far, the latest last.
  private var descriptions: [Description] = []
  private var seenResults: [PeerPair.Side: Int] = [:]

  init?(flags: UInt8) {
    var options = PeerPair.Options()
    options.seed = UInt64(flags)
    options.conditions = .delayed(.milliseconds(5))
    options.configure = { side, configuration in
      if flags & 2 != 0 {
        configuration.sendsVideo = nil
        configuration.receivesVideo = false
      }
      if flags & 4 != 0 { configuration.dataChannels = DataChannelOptions() }
      if flags & 8 != 0 { configuration.receivesAudio = true }
      if flags & 16 != 0 {
        configuration.sendableVideo = [
          VideoPayloadFormat(codec: .h264, parameters: "profile-level-id=42e01f"), .vp8,
        ]
      }
      configuration.receivableVideo = flags & 32 == 0 ? [.vp8] : configuration.sendableVideo
    }
    guard let pair = try? PeerPair(options) else { return nil }
    self.pair = pair
    isHonest = flags & 1 == 0
    start = pair.now
    if isHonest {
      pair.negotiatePerfectly(
        polite: flags & 64 == 0 ? .answerer : .offerer, delays: [.offerer: .milliseconds(flags & 128 == 0 ? 0 : 30)])
    }
  }

  // MARK: Steps

  func run(_ kind: UInt8, _ reader: inout ByteReader) {
    let side: PeerPair.Side = kind & 0x80 == 0 ? .offerer : .answerer
    switch kind & 0x7F {
    case 0..<40: change(side, kind & 0x7F, reader.readUInt8() ?? 0)
    case 40..<64: disturb(side, kind & 0x7F, &reader)
    case 64..<80: pass(.milliseconds(Int64(reader.readUInt8() ?? 1)))
    default: if !isHonest { signal(side, kind & 0x7F, &reader) }
    }
    checkEvents()
  }

  /// An action of an application.
  private func change(_ side: PeerPair.Side, _ kind: UInt8, _ choice: UInt8) {
    let running = pair[side].peer.transceivers.filter { !$0.isStopped }
    let some = running.isEmpty ? nil : running[Int(choice >> 2) % running.count].id
    let media: MediaKind = choice & 1 == 0 ? .video : .audio
    let direction = Self.directions[Int(choice & 3)]
    switch (kind, some) {
    case (0..<4, _) where running.count < 8:
      perform(side, .addTransceiver(media, direction, choice & 8 == 0 ? nil : TrackName(trackID: "t\(choice)")))
    case (4..<8, _) where running.count < 8: perform(side, .addTrack(media, TrackName(trackID: "a\(choice)")))
    case (8..<14, let some?): perform(side, .setDirection(direction, some))
    case (14..<16, let some?): perform(side, .setTrack(choice & 2 == 0 ? nil : TrackName(trackID: "n"), some))
    case (16..<18, let some?): perform(side, .setMuted(choice & 1 == 0, some))
    case (18..<21, let some?): perform(side, .stop(some))
    case (21..<23, _): perform(side, .restartICE(pair.freshCredentials()))
    case (23, _): perform(side, .startConfiguration)
    case (24..<26, _): perform(side, .commitConfiguration)
    case (26, _): perform(side, .requestKeyFrame(choice & 1 == 0 ? nil : some))
    case (27, _): pair.perform(side, .open(DataChannelParameters(label: "c\(choice)")))
    case (28, _): channel(side, choice)
    case (29..<32, _): startSources(side)
    case (32, _) where choice == 0xFF: perform(side, .close)
    default: break
    }
  }

  private func channel(_ side: PeerPair.Side, _ choice: UInt8) {
    let incoming = pair[side].events.compactMap { event -> DataChannelHandle? in
      if case .dataChannel(.incoming(let handle, _)) = event.event { handle } else { nil }
    }
    let handles = pair[side].openedChannels + incoming
    guard !handles.isEmpty else { return }
    let handle = handles[Int(choice >> 1) % handles.count]
    pair.perform(side, choice & 1 == 0 ? .send(.text("one"), handle) : .close(handle))
  }

  /// Everything that has a track has something to send.
  private func startSources(_ side: PeerPair.Side) {
    let end = pair[side]
    for state in end.peer.transceivers where !state.isStopped && end.sources.count + end.audioSources.count < 3 {
      switch state.kind {
      case .video where end.sources[state.id] == nil:
        end.sources[state.id] = SyntheticVideo(frameSize: 300, keyFrameSize: 1_500, from: pair.now)
      case .audio where end.audioSources[state.id] == nil:
        end.audioSources[state.id] = SyntheticAudio(packetSize: 40, from: pair.now)
      default: break
      }
    }
  }

  /// A disturbance by the network or an attacker.
  private func disturb(_ side: PeerPair.Side, _ kind: UInt8, _ reader: inout ByteReader) {
    switch kind {
    case 40..<44: pair.inject(takeBytes(&reader), into: side)
    case 44..<50:
      // One of the latest datagrams for this side, changed at a place or cut there.
      let (choice, place, value) = (reader.readUInt8() ?? 0, reader.readUInt8() ?? 0, reader.readUInt8() ?? 0)
      let recent = pair.departures.suffix(32).filter { $0.side == side.other }
      guard !recent.isEmpty else { return }
      var bytes = recent[recent.startIndex + Int(choice) % recent.count].bytes
      let index = Int(place) % max(1, bytes.count)
      if value == 0 { bytes.removeLast(bytes.count - index) } else if !bytes.isEmpty { bytes[index] ^= value }
      pair.inject(bytes, into: side)
    case 50: pair.recordsDepartures = true
    case 51..<54:
      var conditions = NetworkConditions.delayed(.milliseconds(Int64(reader.readUInt8() ?? 5)))
      conditions.loss = Double(reader.readUInt8() ?? 0) / 512
      conditions.jitter = .milliseconds(Int64(reader.readUInt8() ?? 0))
      conditions.reorders = true
      conditions.duplication = 0.05
      pair.network.setConditions(conditions)
    default: break
    }
  }

  // MARK: Descriptions

  private func signal(_ side: PeerPair.Side, _ kind: UInt8, _ reader: inout ByteReader) {
    switch kind {
    case 80..<84: perform(side, .setLocalDescription(pair.freshCredentials()))
    case 84: perform(side, .createOffer)
    case 85..<88: perform(side, .rollback)
    case 88..<96: deliver(side, description(&reader))
    case 96..<112: deliver(side, mutilated(description(&reader), &reader))
    case 112: perform(side, .acceptOffer(text(&reader)))
    case 113: perform(side, .addRemoteCandidates(text(&reader)))
    case 114..<118: candidate(side, &reader)
    case 118: pair.exchangeDescriptions()
    default: break
    }
  }

  private func deliver(_ side: PeerPair.Side, _ delivery: (description: Description, how: UInt8)?) {
    guard let delivery else { return }
    let description = delivery.description
    switch delivery.how & 7 {
    case 0, 1: perform(side, .setRemoteDescription(description))
    case 2: perform(side, .negotiate(description, .polite, pair.freshCredentials()))
    case 3: perform(side, .negotiate(description, .impolite, pair.freshCredentials()))
    case 4: perform(side, .acceptOffer(description.sdp))
    case 5: perform(side, .acceptAnswer(description.sdp))
    case 6: perform(side, .setRemoteDescription(Description(kind: .offer, sdp: description.sdp)))
    default: perform(side, .setRemoteDescription(Description(kind: .answer, sdp: description.sdp)))
    }
  }

  private func description(_ reader: inout ByteReader) -> (Description, UInt8)? {
    let choice = reader.readUInt8() ?? 0
    guard !descriptions.isEmpty else { return nil }
    return (descriptions[max(0, descriptions.count - 1 - Int(choice >> 5))], choice)
  }

  private func mutilated(_ delivery: (description: Description, how: UInt8)?, _ reader: inout ByteReader)
    -> (Description, UInt8)?
  {
    guard let delivery else { return nil }
    var lines = delivery.description.sdp.split(separator: "\r\n").map(String.init)
    for _ in 0...((reader.readUInt8() ?? 0) & 3) {
      guard !lines.isEmpty else { break }
      let (operation, place) = (reader.readUInt8() ?? 0, Int(reader.readUInt8() ?? 0) % lines.count)
      switch operation & 7 {
      case 0: lines.remove(at: place)
      case 1: lines.insert(lines[place], at: place)
      case 2: lines.swapAt(place, Int(operation >> 3) % lines.count)
      case 3: lines[place] = text(&reader)
      case 4: lines.insert(text(&reader), at: place)
      case 5: lines.removeLast(lines.count - place)
      case 6:
        var bytes = Array(lines[place].utf8)
        if !bytes.isEmpty { bytes[Int(operation >> 3) % bytes.count] = reader.readUInt8() ?? 0 }
        lines[place] = String(decoding: bytes, as: UTF8.self)
      default:
        // A line of another description.
        let other = descriptions[Int(operation >> 3) % descriptions.count].sdp.split(separator: "\r\n")
        lines[place] = String(other[Int(reader.readUInt8() ?? 0) % other.count])
      }
    }
    let sdp = lines.map { $0 + "\r\n" }.joined()
    return (Description(kind: delivery.description.kind, sdp: sdp), delivery.how)
  }

  private func candidate(_ side: PeerPair.Side, _ reader: inout ByteReader) {
    let choice = reader.readUInt8() ?? 0
    let line = "candidate:1 1 udp \(UInt32(choice) << 16) 10.0.0.\(choice) \(choice) typ host"
    perform(
      side,
      .addRemoteCandidate(
        ICECandidateInit(
          candidate: choice & 1 == 0 ? line : text(&reader), sdpMid: choice & 2 == 0 ? "0" : nil,
          sdpMLineIndex: choice & 4 == 0 ? Int(choice >> 3) : nil,
          usernameFragment: choice & 0x80 == 0 ? nil : "unknown")))
  }

  // MARK: Invariants

  /// A refused command has changed nothing.
  private func perform(_ side: PeerPair.Side, _ command: Command) {
    let end = pair[side]
    let (before, state) = (end.peer.transceivers, end.peer.signalingState)
    pair.perform(side, command)
    guard case .failure = end.results.last else { return }
    precondition(end.peer.transceivers == before && end.peer.signalingState == state, "a refusal changed something")
  }

  private func checkEvents() {
    for side in [PeerPair.Side.offerer, .answerer] {
      let end = pair[side]
      for result in end.results[seenResults[side, default: 0]...] {
        switch result {
        case .success(.description(let description)):
          guard let parsed = try? SessionDescription(parsing: description.sdp) else { fatalError("unreadable of ours") }
          precondition(parsed.description == description.sdp)
          descriptions = descriptions.suffix(7) + [description]
        case .failure(let failure): precondition(!isHonest || isOver(side), failure.sentence)
        case .success: break
        }
      }
      seenResults[side] = end.results.count
      precondition(end.events.count < 1_000_000)
      if isOver(side) { precondition(end.outbox.nextDeadline == .distantFuture, "a peer that ended wants to be woken") }
    }
  }

  private func isOver(_ side: PeerPair.Side) -> Bool { if case .ended = pair[side].state { true } else { false } }

  private func pass(_ time: TimeDelta) {
    guard pair.now - start < Self.longestGame else { return }
    pair.run(for: time)
  }

  func finish() {
    if isHonest { agree() }
    for side in [PeerPair.Side.offerer, .answerer] { pair.perform(side, .close) }
    checkEvents()
    precondition(isOver(.offerer) && isOver(.answerer))
  }

  private func agree() {
    for side in [PeerPair.Side.offerer, .answerer] {
      perform(side, .commitConfiguration)
      pair[side].sources = [:]
      pair[side].audioSources = [:]
    }
    pair.network.setConditions(.delayed(.milliseconds(5)))
    let ends = [pair.offerer, pair.answerer]
    pair.run(for: .seconds(3)) { _ in
      ends.allSatisfy { $0.peer.signalingState == .stable && !$0.peer.needsNegotiation }
    }
    checkEvents()
    guard !isOver(.offerer), !isOver(.answerer) else { return }
    for end in ends { precondition(end.peer.signalingState == .stable && !end.peer.needsNegotiation, "not agreed") }
    let (ours, theirs) = (ends[0].peer.transceivers, ends[1].peer.transceivers)
    func mids(_ states: [TransceiverState]) -> Set<String> { Set(states.filter { !$0.isStopped }.compactMap(\.mid)) }
    precondition(mids(ours) == mids(theirs), "m-sections of one side alone")
    for state in ours where !state.isStopped {
      precondition(
        theirs.contains {
          $0.mid == state.mid && $0.kind == state.kind && $0.currentDirection == state.currentDirection?.reversed
        }, "one sends what the other does not receive")
    }
  }

  // MARK: Input

  private func text(_ reader: inout ByteReader) -> String { String(decoding: takeBytes(&reader), as: UTF8.self) }

  /// At most 255 bytes, as many as the first one says.
  private func takeBytes(_ reader: inout ByteReader) -> [UInt8] {
    let wanted = Int(reader.readUInt8() ?? 0)
    var bytes: [UInt8] = []
    while bytes.count < wanted, let byte = reader.readUInt8() { bytes.append(byte) }
    return bytes
  }
}
