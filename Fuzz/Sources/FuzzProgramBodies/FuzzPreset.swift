import RTCPrimitives
import RTCast
import rtcast_cli

/// A file of a preset: it is read, or refused with a sentence.
public func fuzzPreset(_ bytes: Span<UInt8>) {
  do throws(PresetError) {
    let preset = try Preset(json: [UInt8](copying: bytes), file: "p.json")
    precondition(preset.frameRate.map { (0.1...240).contains($0) } ?? true)
    precondition(preset.size.map { (16...8_192).contains($0.width) && (16...8_192).contains($0.height) } ?? true)
    for limits in [preset.video, preset.audio].compactMap({ $0 }) {
      precondition(limits.minimum <= limits.start && limits.start <= limits.maximum)
      precondition((0...1).contains(limits.lowLoss) && limits.lowLoss <= limits.criticalLoss)
    }
    precondition(preset.iceServers.count <= 20)
  } catch {
    precondition(error.sentence.contains("p.json") && error.sentence.utf8.count < 4_000, error.sentence)
  }
}

/// Lines of `--control`, in pieces of a size that the input chooses: each is a command or is refused with a sentence,
/// wherever the pieces are split.
public func fuzzControl(_ bytes: Span<UInt8>) {
  guard bytes.count > 1 else { return }
  let text = [UInt8](copying: bytes.extracting(1..<bytes.count))
  let longest = 1 + Int(bytes[0]) * 4
  let lines = split(text, part: Int(bytes[0]) % 7 + 1, longest: longest)
  precondition(lines == split(text, part: text.count, longest: longest))
  for line in lines {
    guard let line = line.bytes else { continue }
    precondition(line.count <= longest)
    do throws(ControlError) {
      let command = try ControlCommand(parsing: line)
      precondition(ControlCommand.names.contains(command.name) && !command.takers.isEmpty)
    } catch {
      precondition((1...1_000).contains(error.sentence.utf8.count), error.sentence)
    }
  }
}

private func split(_ text: [UInt8], part: Int, longest: Int) -> [LineSplitter.Line] {
  var splitter = LineSplitter(longestLine: longest)
  var lines: [LineSplitter.Line] = []
  for start in stride(from: 0, to: text.count, by: part) {
    lines += splitter.take(text[start..<min(text.count, start + part)])
  }
  if let last = splitter.end() { lines.append(last) }
  return lines
}

/// A rate log that anybody may have written: bad lines are counted, and the others are replayed.
public func fuzzRateLog(_ bytes: Span<UInt8>) {
  var reader = RateLogReader()
  reader.take([UInt8](copying: bytes))
  reader.end()
  precondition(reader.badLines.count == min(reader.badLineCount, RateLogReader.keptBadLines))
  precondition(reader.badLineCount <= reader.lineCount && reader.connections.count <= reader.lineCount)
  for connection in reader.connections { precondition(connection.gap.map { $0 <= reader.lineCount } ?? true) }
}
