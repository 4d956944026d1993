internal import RTCMedia
internal import RTCPrimitives

/// Has a player's sound decoded and puts it where the delivery finds it. On the reader thread.
final class SoundReading {
  private let core: PlaybackCore
  private let media: any FileMedia
  private var bridge = SoundBridge()

  init(core: PlaybackCore, media: any FileMedia) {
    self.core = core
    self.media = media
  }

  func decode(_ work: PacketLog.Work) throws(FileLoss) {
    if work.startsAnew {
      try media.reset(.audio)
      bridge = SoundBridge()
    }
    switch work.entry {
    case .packet(let packet):
      core.monitor.note { state, _ in state.audio.sent += 1 }
      note(try media.decodeSound(packet.payload))
    case .boundary(let floor, _):
      note(try media.finishSound())
      bridge.passEnded()
      core.monitor.change { state, _ in PlayerState.finishPass(&state.audio, floor: floor) }
    }
  }

  private func note(_ pieces: [SoundPiece]) {
    for piece in pieces {
      var piece = piece
      core.monitor.change { state, _ in
        state.audio.made += 1
        guard state.decodesSound, piece.drop(before: state.audio.floor) else { return }
        state.audio.total += 1
        if let filling = bridge.filling(before: piece) { state.sounds.append(filling) }
        state.sounds.append(piece)
      }
    }
  }
}
