package import RTCast
import RTCNet

/// The measurements of `--codec auto`, kept from run to run in the state folder. The first line identifies the machine
/// and the libraries; each further line has a codec, its chroma and the microseconds for a megapixel: `AV1 444 18500`.
package enum CodecCostsFile {
  private static let name = "codec-costs"
  /// More is not ours.
  private static let limit = 4_096

  /// The measurements of an earlier run, else new ones, which take about a second.
  static func costs(of registry: CodecRegistry, _ tell: (String) -> Void) -> CodecCosts {
    let machine = machine(registry)
    let path = StateFolder.path.map { "\($0)/\(name)" }
    if let path, let bytes = try? WholeFile.read(path, limit: limit, what: "The file"),
      let costs = parse(String(decoding: bytes, as: UTF8.self), of: machine)
    {
      return costs
    }
    tell("Measuring for a second how fast this machine encodes; --codec auto does so once.")
    let costs = registry.measureCosts()
    // If the result cannot be stored, the next run measures again.
    if let path, (try? StateFolder.make()) != nil {
      try? WholeFile.writeSecretly(Array(text(costs, of: machine).utf8), to: path)
    }
    return costs
  }

  /// Parses the file; nil if it belongs to another machine or is malformed.
  package static func parse(_ text: String, of machine: String) -> CodecCosts? {
    let lines = text.split(separator: "\n")
    guard lines.first.map(String.init) == machine else { return nil }
    var costs = CodecCosts([])
    for line in lines.dropFirst() {
      let words = line.split(separator: " ")
      guard words.count == 3, let codec = VideoCodec(rawValue: String(words[0])),
        let chroma = ChromaSampling.allCases.first(where: { $0.name == words[1] }), let time = Int64(words[2]),
        (1...10_000_000).contains(time)
      else { return nil }
      costs.entries.append(CodecCosts.Entry(codec: codec, chroma: chroma, perMegapixel: .microseconds(time)))
    }
    return costs.entries.isEmpty ? nil : costs
  }

  package static func text(_ costs: CodecCosts, of machine: String) -> String {
    let lines = costs.entries.map { "\($0.codec.rawValue) \($0.chroma.name) \($0.perMegapixel.nanoseconds / 1_000)" }
    return ([machine] + lines).joined(separator: "\n") + "\n"
  }

  /// Identifies the processor and the libraries, since the costs depend on both.
  private static func machine(_ registry: CodecRegistry) -> String {
    let model =
      ProcFile.text("/proc/cpuinfo")?.split(separator: "\n").first { $0.hasPrefix("model name") }
      .flatMap { $0.split(separator: ":").last } ?? "unknown"
    let libraries = registry.codecs.map { registry.library(for: $0) ?? $0.rawValue }
    return "\(ProcessorCount.available) x\(model), \(libraries.joined(separator: ", "))"
  }
}
