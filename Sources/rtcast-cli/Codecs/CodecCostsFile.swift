package import RTCast
import RTCNet

/// What `--codec auto` measured of this machine, kept from run to run in the state folder. A line says which machine and
/// libraries it was, each further one a codec, its chroma and the microseconds for a megapixel: `AV1 444 18500`.
package enum CodecCostsFile {
  private static let name = "codec-costs"
  /// More is not ours.
  private static let limit = 4_096

  /// What was measured in an earlier run, else what is measured now, which takes about a second.
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
    // Where nothing can be kept it is measured again the next time.
    if let path, (try? StateFolder.make()) != nil {
      try? WholeFile.writeSecretly(Array(text(costs, of: machine).utf8), to: path)
    }
    return costs
  }

  /// Nil for another machine's, and for what cannot be read.
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

  /// Another processor or another library has other costs.
  private static func machine(_ registry: CodecRegistry) -> String {
    let model =
      ProcFile.text("/proc/cpuinfo")?.split(separator: "\n").first { $0.hasPrefix("model name") }
      .flatMap { $0.split(separator: ":").last } ?? "unknown"
    let libraries = registry.codecs.map { registry.library(for: $0) ?? $0.rawValue }
    return "\(ProcessorCount.available) x\(model), \(libraries.joined(separator: ", "))"
  }
}
