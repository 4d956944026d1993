// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

/// One executable a parser, linked with libFuzzer; `scripts/fuzz` compiles everything with its instrumentation, the
/// parsers included. The body lives in `FuzzBodies`, which the unit tests
/// replay over `FailCases` as well.
func fuzzTarget(_ name: String, body: Target.Dependency = "FuzzBodies") -> Target {
  .executableTarget(
    name: name, dependencies: ["CLibFuzzer", body], swiftSettings: strict,
    linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])])
}

let package = Package(
  name: "Fuzz",
  dependencies: [.package(name: "rtcast", path: "..")],
  targets: [
    .target(
      name: "FuzzBodies",
      dependencies: [
        .product(name: "RTCWire", package: "rtcast"), .product(name: "RTCMedia", package: "rtcast"),
        .product(name: "RTCCapture", package: "rtcast"), .product(name: "RTCCaptureFile", package: "rtcast"),
        .product(name: "RTCEngine", package: "rtcast"), .product(name: "RTCPlayout", package: "rtcast"),
        .product(name: "RTCSignaling", package: "rtcast"),
      ],
      swiftSettings: strict),
    // By itself: it alone needs usrsctp.
    .target(
      name: "FuzzSCTPBody", dependencies: [.product(name: "RTCSCTP", package: "rtcast")], swiftSettings: strict),
    // By themselves likewise: whole agents and peers, on virtual time.
    .target(
      name: "FuzzPeerBodies", dependencies: [.product(name: "RTCEngine", package: "rtcast")], swiftSettings: strict),
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
    fuzzTarget("FuzzVideo", body: .product(name: "FuzzVideoBody", package: "rtcast")),
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
