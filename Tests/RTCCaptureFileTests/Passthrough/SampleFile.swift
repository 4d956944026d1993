import CFFmpeg
import Foundation
import ProcessKit
import Testing

/// A folder for one test, removed with the object.
final class ScratchFolder: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "rtcast-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path(percentEncoded: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Makes a file with the `ffmpeg` program and returns its path.
  func sample(_ name: String, _ arguments: String) throws -> String {
    let file = "\(path)/\(name)"
    _ = try runProgram("ffmpeg -v error -nostdin -y \(arguments) \(file)")
    return file
  }

  /// Makes a file with the `ffmpeg` program in two passes, which is when encoders put hidden frames between the others.
  func twoPassSample(_ name: String, _ arguments: String) throws -> String {
    let log = "-passlogfile \(path)/pass"
    _ = try runProgram("ffmpeg -v error -nostdin -y \(arguments) -pass 1 \(log) -f null -")
    return try sample(name, "\(arguments) -pass 2 \(log)")
  }
}

struct ProgramFailure: Error, CustomStringConvertible {
  var description: String
}

/// Runs a program, its arguments separated by spaces, and returns what it printed, errors included.
func runProgram(_ line: String) throws -> String {
  try TestProcess.run(line.split(separator: " ").map(String.init), errors: .withOutput).text
}

/// The packets of a file's first stream of pictures, passed through FFmpeg's bitstream filters.
struct FilteredPackets {
  var extradata: [UInt8] = []
  var packets: [[UInt8]] = []
  var keys: [Bool] = []

  /// - Parameter filters: the filters in the syntax of ffmpeg's `-bsf:v`.
  init(_ path: String, _ filters: String) throws {
    var input: UnsafeMutablePointer<AVFormatContext>?
    try check(avformat_open_input(&input, path, nil, nil))
    defer { avformat_close_input(&input) }
    try check(avformat_find_stream_info(input, nil))
    let index = av_find_best_stream(input, AVMEDIA_TYPE_VIDEO, -1, -1, nil, 0)
    let parameters = input!.pointee.streams[Int(index)]!.pointee.codecpar!
    extradata = Array(
      UnsafeBufferPointer(start: parameters.pointee.extradata, count: Int(parameters.pointee.extradata_size)))
    var filter: UnsafeMutablePointer<AVBSFContext>?
    try check(av_bsf_list_parse_str(filters, &filter))
    defer { av_bsf_free(&filter) }
    try check(avcodec_parameters_copy(filter!.pointee.par_in, parameters))
    try check(av_bsf_init(filter))
    var packet = av_packet_alloc()
    defer { av_packet_free(&packet) }
    while av_read_frame(input, packet) >= 0 {
      guard packet!.pointee.stream_index == index else {
        av_packet_unref(packet)
        continue
      }
      try check(av_bsf_send_packet(filter, packet))
      receive(filter, packet)
    }
    try check(av_bsf_send_packet(filter, nil))
    receive(filter, packet)
  }

  private mutating func receive(
    _ filter: UnsafeMutablePointer<AVBSFContext>?, _ packet: UnsafeMutablePointer<AVPacket>?
  ) {
    while av_bsf_receive_packet(filter, packet) >= 0 {
      packets.append(Array(UnsafeBufferPointer(start: packet!.pointee.data, count: Int(packet!.pointee.size))))
      keys.append(packet!.pointee.flags & AV_PKT_FLAG_KEY != 0)
      av_packet_unref(packet)
    }
  }
}

private func check(_ status: Int32) throws {
  if status < 0 { throw ProgramFailure(description: "FFmpeg: \(status)") }
}
