// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

/// One executable a parser, linked with libFuzzer; `scripts/fuzz` compiles everything with its instrumentation, the
/// parsers included. The bodies are targets of the package beside this one, whose unit tests replay them over `FailCases`.
func fuzzTarget(_ name: String, body: String = "FuzzBodies") -> Target {
  .executableTarget(
    name: name, dependencies: ["CLibFuzzer", .product(name: body, package: "rtcast")], swiftSettings: strict,
    linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])])
}

let package = Package(
  name: "Fuzz",
  dependencies: [.package(name: "rtcast", path: "..")],
  targets: [
    .systemLibrary(name: "CLibFuzzer"),
    fuzzTarget("FuzzRTP"),
    fuzzTarget("FuzzRTCP"),
    fuzzTarget("FuzzVP8"),
    fuzzTarget("FuzzOpus"),
    fuzzTarget("FuzzVP9"),
    fuzzTarget("FuzzH264"),
    fuzzTarget("FuzzAV1"),
    fuzzTarget("FuzzSTUN"),
    fuzzTarget("FuzzSDP"),
    fuzzTarget("FuzzY4M"),
    fuzzTarget("FuzzJitter"),
    fuzzTarget("FuzzVideo", body: "FuzzVideoBody"),
    fuzzTarget("FuzzSCTP", body: "FuzzSCTPBody"),
    fuzzTarget("FuzzICE", body: "FuzzPeerBodies"),
    fuzzTarget("FuzzFarPeer", body: "FuzzPeerBodies"),
    fuzzTarget("FuzzNegotiation", body: "FuzzPeerBodies"),
    fuzzTarget("FuzzHub"),
    fuzzTarget("FuzzHubClient"),
    fuzzTarget("FuzzPeerJS"),
    fuzzTarget("FuzzSkyRTC"),
    fuzzTarget("FuzzH264File"),
    fuzzTarget("FuzzVP9File"),
    fuzzTarget("FuzzAV1File"),
  ]
)
