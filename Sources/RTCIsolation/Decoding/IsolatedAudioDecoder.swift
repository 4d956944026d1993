import RTCMedia
import RTCNet
import RTCPrimitives

/// A decoder of sound in a process of its own, started again when that ends. It never keeps its caller waiting, who plays the
/// sound of others too: what is not there in time counts as lost. Used by one thread at a time.
final class IsolatedAudioDecoder: AudioDecoder {
  /// The functions that the owner provides.
  struct Owner {
    /// Starts a process; nil where none may or can be started now.
    var start: () -> DecoderChild?
    /// Receives the rights that the process still has.
    var whenOpen: (Confinement) -> Void
    /// Receives the loss of the process, with its reason.
    var whenLost: (UntrustedChild.Loss) -> Void
  }

  private enum Phase {
    case absent
    case opening(DecoderChild)
    case open(DecoderChild)
    /// The process has no decoder, and will have none.
    case useless
  }

  private static let missing = AudioDecoderError.library(
    status: 0, message: "The process that decodes sound is not there.")

  let channels: Int
  private let owner: Owner
  private let patience: TimeDelta
  private var phase = Phase.absent

  /// Creates a decoder.
  ///
  /// - Parameter patience: the longest wait for each packet.
  init(channels: Int, patience: TimeDelta, owner: Owner) throws(AudioDecoderError) {
    guard (1...2).contains(channels) else { throw .unsupportedChannels(channels) }
    self.channels = channels
    self.owner = owner
    self.patience = patience
    start()
  }

  func decode(_ packet: [UInt8]) throws(AudioDecoderError) -> [Float] {
    guard !packet.isEmpty else { throw .emptyPacket }
    return try sound(.packet, 0, packet)
  }

  func recover(sampleCount: Int, from next: [UInt8]) throws(AudioDecoderError) -> [Float] {
    try sound(.recovery, sampleCount, next)
  }

  func conceal(sampleCount: Int) throws(AudioDecoderError) -> [Float] { try sound(.concealment, sampleCount, []) }

  private func sound(
    _ request: DecoderCommand.SoundRequest, _ sampleCount: Int, _ packet: [UInt8]
  ) throws(AudioDecoderError) -> [Float] {
    if case .absent = phase { start() }
    let answer: DecoderChild.SoundAnswer
    do throws(UntrustedChild.Loss) {
      answer =
        try opened()?.sound(request, sampleCount: sampleCount, of: packet) ?? .late
    } catch {
      phase = .absent
      owner.whenLost(error)
      // While the process starts, packets count as lost.
      start()
      throw Self.missing
    }
    switch answer {
    case .sound(let samples):
      guard samples.count % channels == 0, samples.count <= 5_760 * channels else { throw Self.missing }
      return samples
    case .refused(.library(let status)): throw .library(status: status, message: "libopus refuses the packet.")
    case .refused, .late: throw Self.missing
    }
  }

  private func start() {
    guard let child = owner.start() else { return }
    do throws(UntrustedChild.Loss) {
      try child.openSound(channels: channels)
      phase = .opening(child)
    } catch {
      owner.whenLost(error)
    }
  }

  private func opened() throws(UntrustedChild.Loss) -> DecoderChild? {
    switch phase {
    case .open(let child): return child
    case .absent, .useless: return nil
    case .opening(let child):
      switch try child.whenOpen(waits: false) {
      case .success(let confinement):
        owner.whenOpen(confinement)
        child.setPatience(patience)
        phase = .open(child)
        return child
      case .failure:
        phase = .useless
        return nil
      case nil: return nil
      }
    }
  }
}
