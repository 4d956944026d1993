import RTCCaptureFile
import RTCCapturePlugin
import RTCIsolation
import RTCMedia
import RTCPrimitives

/// A message of the process of a plugin, a decoder or a file: an accepted one is the same when written and read again,
/// and no picture reaches beyond the memory that the process shares.
public func fuzzPlugin(_ bytes: Span<UInt8>) {
  guard bytes.count > 2 else { return }
  let memory = (Int(bytes[0]) << 8 | Int(bytes[1])) << 4
  let message = [UInt8](copying: bytes.extracting(2..<bytes.count))
  if let command = HostCommand(parsing: message) {
    precondition(HostCommand(parsing: command.bytes)?.bytes == command.bytes, "a command is read differently once more")
  }
  checkDecoder(message, memory)
  checkFile(message, memory)
  guard let event = HostEvent(parsing: message) else { return }
  guard let again = HostEvent(parsing: event.bytes), again.bytes == event.bytes else {
    preconditionFailure("an event is read differently once more: \(event)")
  }
  switch event {
  case .picture(let picture): checkPlanes(of: picture, in: memory)
  case .sound(let sound): precondition(sound.samples.allSatisfy { $0.isFinite })
  case .described(let description): precondition(description.frameRate.map { $0 > 0 && $0 <= 1_000 } ?? true)
  case .started(let format): precondition(format.frameRate.isFinite && format.frameRate > 0)
  case .failed, .segment, .notice, .fault, .busy, .ended: break
  }
}

private func checkDecoder(_ message: [UInt8], _ memory: Int) {
  if case .part(let offset, _, _) = DecoderCommand(parsing: message.span) { precondition(offset <= message.count) }
  guard let event = DecoderEvent(parsing: message.span) else { return }
  guard let again = DecoderEvent(parsing: event.bytes.span), again.bytes == event.bytes else {
    preconditionFailure("a decoder's event is read differently once more: \(event)")
  }
  if case .picture(let picture, _) = event { checkPlanes(of: picture, in: memory) }
}

private func checkFile(_ message: [UInt8], _ memory: Int) {
  if let (request, released) = FileRequest.parse(message.span) {
    let again = FileRequest.parse(request.bytes(released).span)
    precondition(again?.request == request && again?.released == released, "a request is read differently once more")
  }
  guard let answer = FileAnswer(parsing: message.span) else { return }
  guard let again = FileAnswer(parsing: answer.bytes.span), again.bytes == answer.bytes else {
    preconditionFailure("an answer about a file is read differently once more: \(answer)")
  }
  let latest = FileAnswer.latestTime
  switch answer {
  case .picture(let picture, let duration):
    checkPlanes(of: picture, in: memory)
    precondition(abs(picture.captureTime.nanoseconds) <= latest && duration.nanoseconds >= 0)
  case .pictures(let made, let newest, _):
    precondition(made >= 0 && abs((newest ?? .zero).nanoseconds) <= latest)
  case .packet(let packet):
    for time in [packet.pts, packet.dts, packet.nextKeyFrame, packet.start] {
      precondition(abs(time ?? 0) <= PacketTiming.latestTime)
    }
    precondition(packet.count > 0 && packet.duration >= 0 && packet.cut >= 0)
  case .part(let offset), .sound(_, _, _, let offset): precondition(offset <= message.count)
  case .bytesWanted(let offset, let count): precondition(offset >= 0 && count > 0 && count <= FileAnswer.mostPayload)
  default: break
  }
}

private func checkPlanes(of picture: SharedPicture, in memory: Int) {
  for rect in picture.damage ?? [] {
    precondition(rect.x >= 0 && rect.y >= 0 && rect.width >= 0 && rect.height >= 0)
    precondition(rect.x + rect.width <= picture.size.width && rect.y + rect.height <= picture.size.height)
  }
  guard picture.planesFit(memory) else { return }
  for (index, plane) in picture.planes.enumerated() {
    let extent = picture.format.planeExtent(index, of: picture.size)
    precondition(plane.offset >= 0 && plane.stride >= extent.rowBytes)
    precondition(plane.offset + plane.stride * (extent.rows - 1) + extent.rowBytes <= memory)
  }
}
