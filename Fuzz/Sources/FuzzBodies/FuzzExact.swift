import RTCPage
import RTCPrimitives

/// Viewers' messages about exact pixels, one after the other, each with its length in front: a viewer is sent no more
/// than its budget, and nothing without having asked.
public func fuzzExact(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  var scheduler = ExactScheduler()
  var out: [ExactScheduler.Delivery] = []
  var (now, sent) = (Timestamp.zero, 0)
  var picture = BlockSet(PixelSize(width: 600, height: 200))
  picture.insertAll()
  scheduler.add("viewer", clock: RTPTimestamp(7), rate: .megabitsPerSecond(1), now: now)
  scheduler.take(picture, captureTime: now, now: now, into: &out)
  while let count = reader.readUInt8(), let message = reader.read(min(Int(count), reader.remaining)), !message.isEmpty {
    if let said = ExactViewerMessage(parsing: message) {
      precondition(message.count == said.bytes.count)
      scheduler.handle(said, from: "viewer", now: now, into: &out)
    }
    now += .milliseconds(Int64(count))
    let frame = BlockRect(column: Int(count) % 30, row: 1, width: 4, height: 2)
    var changed = BlockSet(picture.size)
    changed.insert(frame)
    var moved = count.isMultiple(of: 5) ? scrolled(picture.size) : nil
    if var picture = moved {
      changed.formUnion(picture.moved)
      changed.formUnion(picture.patched)
      scheduler.choosePatches(of: &picture, changed, now)
      scheduler.refusePatches(
        of: picture.encode { $0.x > 16 && count.isMultiple(of: 10) ? nil : [UInt8](repeating: 0, count: 100) }, now)
      moved = picture
    }
    scheduler.take(changed, moved: moved, captureTime: now, now: now, into: &out)
    scheduler.frame(now, bytes: 100, now: now, into: &out)
    if count.isMultiple(of: 3) { scheduler.noteSnapshot(UInt32(count % 8), isNewest: true, now: now) }
    // A page that the viewer keeps is named when it returns: one of three pictures.
    if case .hash(let cells) = scheduler.recall(now, into: &out) {
      scheduler.finish(cells, cells.map { UInt64(($0.rect.column * 100 + $0.rect.row) * 3 + Int(count) % 3) })
    }
    _ = scheduler.recall(now, into: &out)
    for _ in 0..<8 {
      guard case .encode(let job) = scheduler.next(now, into: &out) else { break }
      scheduler.finish(job, [UInt8](repeating: 0, count: 300))
    }
    sent += out.reduce(0) { $0 + $1.message.count }
    out = []
    // 100 kB/s, the excess of one step, and the messages about changes.
    precondition(sent <= Int(now.nanoseconds / 10_000) + 40_000 + reader.offset * 200)
  }
}

/// A part of the picture has scrolled by seven rows.
private func scrolled(_ size: PixelSize) -> MovedPicture {
  var moved = BlockSet(size)
  moved.insert(BlockRect(column: 1, row: 2, width: 25, height: 5))
  let move = PictureMove(PixelRect(x: 16, y: 32, width: 400, height: 89), dx: 0, dy: -7)
  return MovedPicture(moves: [move], moved: moved, patches: [PixelRect(x: 16, y: 121, width: 400, height: 7)])
}
