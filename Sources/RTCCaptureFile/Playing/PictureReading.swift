internal import RTCMedia
internal import RTCPrimitives

/// Has a player's pictures decoded and puts those that are to be shown where the delivery finds them. On the reader thread.
final class PictureReading {
  private let core: PlaybackCore
  private let seat: Int
  private let media: any FileMedia
  /// The newest picture came long after it was due.
  private var isLate = false

  init(core: PlaybackCore, seat: Int, media: any FileMedia) {
    self.core = core
    self.seat = seat
    self.media = media
  }

  func decode(_ work: PacketLog.Work) throws(FileLoss) {
    if work.startsAnew { try media.reset(.video) }
    switch work.entry {
    case .packet(let packet):
      let selection = core.monitor.note { state, _ in
        state.video.sent += 1
        return self.selection(state)
      }
      note(try media.decodePictures(packet.payload, at: packet.decodeTime, selection))
    case .boundary(let floor, let isLast):
      let selection = core.monitor.read { state, _ in self.selection(state) }
      note(try media.finishPictures(selection, showsHeld: isLast || selection.floor < floor))
      core.monitor.change { state, _ in PlayerState.finishPass(&state.video, floor: floor) }
    }
  }

  private func selection(_ state: borrowing PlayerState) -> PictureSelection {
    let speed = state.clock.speed
    return PictureSelection(
      floor: state.video.floor, interval: state.maximumFrameRate.map { .seconds(speed / $0) }, isLate: isLate)
  }

  private func note(_ pictures: DecodedPictures) {
    for _ in 0..<pictures.made { core.monitor.spend(\.decoding, seat: seat) }
    if let newest = pictures.newest {
      isLate = core.monitor.note { state, now in
        state.video.made += pictures.made
        // Not on the way to a place: there the picture that is due must not be left out.
        return newest >= state.video.floor && state.clock.media(at: now) - newest > .milliseconds(200)
      }
    }
    for item in pictures.items {
      core.monitor.change { state, _ in
        // Even where decoding was switched off meanwhile.
        guard state.video.run != nil else { return }
        state.video.total += 1
        state.pictures.append(item)
      }
    }
  }
}
