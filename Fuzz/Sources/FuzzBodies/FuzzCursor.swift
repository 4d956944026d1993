import RTCMedia
import RTCPage
import RTCPrimitives

/// Two viewers of a moving pointer, one byte for each action and one for its value: no viewer is sent more than its
/// positions and images, nor anything without having asked.
public func fuzzCursor(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  var scheduler = CursorScheduler()
  var out: [CursorScheduler.Delivery] = []
  var (now, sent) = (Timestamp.zero, 0)
  var asked: Set<String> = []
  while let deed = reader.readUInt8(), let how = reader.readUInt8() {
    let id = deed & 0x80 == 0 ? "a" : "b"
    switch deed & 0x0f {
    case 0: scheduler.connect(id, hasChannels: how & 1 == 0, now: now, into: &out)
    case 1: scheduler.disconnect(id, now: now, into: &out)
    case 2: scheduler.remove(id, now: now, into: &out)
    case 3: scheduler.open(id, clock: RTPTimestamp(UInt32(how) << 24))
    case 4: scheduler.close(id, now: now, into: &out)
    case 5:
      guard let message = reader.read(min(Int(how & 7), reader.remaining)),
        let said = CursorViewerMessage(parsing: message)
      else { break }
      precondition(message.count == said.bytes.count)
      scheduler.handle(said, from: id, now: now, into: &out)
      if said == .ready(.viewer) { asked.insert(id) }
    case 6:
      let drawing = CursorDrawing(
        isDrawn: how & 1 == 0, pictureSize: PixelSize(width: 640, height: 480), since: now)
      scheduler.take(.drawing(drawing), now: now, into: &out)
    case 7:
      scheduler.take(.image(how == 255 ? tooLarge : image(side: 1, UInt32(how) << 24)), now: now, into: &out)
    case 8: scheduler.reset(now, into: &out)
    default: scheduler.take(.position(CursorPosition(x: Int(how), y: 1)), now: now, into: &out)
    }
    now += .milliseconds(Int64(deed >> 4 & 7))
    if let due = scheduler.deadline(after: now), due <= now { scheduler.update(now, into: &out) }
    for delivery in out { precondition(asked.contains(delivery.viewer), "sent to who has not asked") }
    sent += out.reduce(0) { $0 + $1.message.count }
    out = []
    precondition(sent <= 2 * 64 * reader.offset)
  }
}

private func image(side: Int, _ pixel: UInt32) -> CursorImage {
  CursorImage(
    size: PixelSize(width: side, height: side), hotX: 0, hotY: 0, pixels: Array(repeating: pixel, count: side * side))
}

/// Made once, so that its memory is no part of what an input costs.
private let tooLarge = image(side: CursorLimits.side + 1, 255 << 24)
