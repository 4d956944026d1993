import CLinux
import Glibc
package import RTCMedia
import RTCPrimitives

/// The life of a decoder's own process. Its program calls `run` and ends with what that returns.
package enum DecoderHost {
  /// Makes a decoder that puts its pictures into the memory given where it can, and loads its libraries: there is no later.
  package typealias Maker = (VideoCodec, any DecoderMemory) throws(VideoDecoderError) -> any VideoDecoder

  /// A picture that takes longer ends the process, should nobody be there any more to do that.
  private static let longestDecoding: Int32 = 10

  /// Makes a decoder of sound for 1 or 2 channels.
  package typealias SoundMaker = (_ channels: Int) throws(AudioDecoderError) -> any AudioDecoder

  /// Decodes what the other side of descriptor 3 sends, until that side is gone. The process must have no other threads, and
  /// so no `await` in its main file: waiting for events is not among the calls that are left to it.
  /// - Returns: the exit status; nil when descriptor 3 is no such connection, so that this was not started by rtcast.
  package static func run(_ make: Maker, _ makeSound: SoundMaker) -> Int32? {
    guard let socket = ParentConnection.open() else { return nil }
    // The deadline of a picture.
    signal(SIGALRM, SIG_DFL)
    var room: [UInt8] = []
    guard case .message(let count, _) = socket.receiveBytes(into: &room) else { return 0 }
    switch DecoderCommand(parsing: room.span.extracting(first: count)) {
    case .open(let codec):
      let memory = SharedDecoderMemory(socket)
      let decoder: any VideoDecoder
      do throws(VideoDecoderError) { decoder = try make(codec, memory) } catch {
        socket.send(DecoderEvent.unavailable(error).bytes, isPatient: true)
        return 0
      }
      confine(socket)
      var decoding = Decoding(socket: socket, decoder: decoder, memory: memory)
      decoding.run(&room)
    case .openSound(let channels):
      let decoder: any AudioDecoder
      do throws(AudioDecoderError) { decoder = try makeSound(channels) } catch {
        socket.send(DecoderEvent.unavailable(.library(status: error.status)).bytes, isPatient: true)
        return 0
      }
      confine(socket)
      runSound(decoder, socket, &room)
    case .part, .sound, nil: break
    }
    return 0
  }

  /// From here on nothing can be opened.
  private static func confine(_ socket: MessageSocket) {
    socket.send(DecoderEvent.ready(Confinement.enter()).bytes, isPatient: true)
  }

  private static func runSound(_ decoder: any AudioDecoder, _ socket: MessageSocket, _ room: inout [UInt8]) {
    while case .message(let count, let descriptor) = socket.receiveBytes(into: &room) {
      if let descriptor { close(descriptor) }
      guard
        case .sound(let request, let sampleCount, let offset) = DecoderCommand(
          parsing: room.span.extracting(first: count))
      else { return }
      let packet = Array(room[offset..<count])
      let event: DecoderEvent
      clinux_set_deadline(longestDecoding)
      do throws(AudioDecoderError) {
        let samples =
          switch request {
          case .packet: try decoder.decode(packet)
          case .recovery: try decoder.recover(sampleCount: sampleCount, from: packet)
          case .concealment: try decoder.conceal(sampleCount: sampleCount)
          }
        event = .sound(samples)
      } catch {
        event = .refused(.library(status: error.status))
      }
      clinux_set_deadline(0)
      guard socket.send(event.bytes, isPatient: true) else { return }
    }
  }

  private struct Decoding {
    let socket: MessageSocket
    let decoder: any VideoDecoder
    var lent: LentPictures
    /// The coded picture so far; its memory is kept.
    var coded: [UInt8] = []

    init(socket: MessageSocket, decoder: any VideoDecoder, memory: SharedDecoderMemory) {
      self.socket = socket
      self.decoder = decoder
      lent = LentPictures(memory)
    }

    mutating func run(_ room: inout [UInt8]) {
      while case .message(let count, let descriptor) = socket.receiveBytes(into: &room) {
        if let descriptor { close(descriptor) }
        guard
          case .part(let offset, let isLast, let released) = DecoderCommand(
            parsing: room.span.extracting(first: count))
        else { return }
        lent.takeBack(released)
        coded.append(contentsOf: room[offset..<count])
        guard isLast else { continue }
        clinux_set_deadline(DecoderHost.longestDecoding)
        let event = decode()
        clinux_set_deadline(0)
        coded.removeAll(keepingCapacity: true)
        guard socket.send(event.bytes, isPatient: true) else { return }
      }
    }

    private mutating func decode() -> DecoderEvent {
      do throws(VideoDecoderError) {
        guard let picture = try decoder.decode(coded) else { return .nothing }
        let meaning = decoder.colorSpace
        guard let shared = lent.lend(picture, meaning ?? .bt601Limited) else {
          return .refused(.unsupportedPicture("There is no memory left for another picture."))
        }
        return .picture(shared, saysColorSpace: meaning != nil)
      } catch {
        return .refused(error)
      }
    }
  }
}

extension AudioDecoderError {
  /// The library's code; 0 for what the caller did wrong.
  fileprivate var status: Int { if case .library(let status, _) = self { status } else { 0 } }
}
