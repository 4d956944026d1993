// swift-tools-version: 6.2
import PackageDescription

/// Every target: Swift 6 mode, warnings are errors, imports are internal unless said otherwise.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableExperimentalFeature("Lifetimes"),
]

/// Targets that face the network or hold state: every unsafe construct must be marked.
let safely: [SwiftSetting] = strict + [.strictMemorySafety()]

/// C of our own: libc checks the lengths that the compiler knows. What else hardens a program needs flags that a package which
/// others depend on may not set: `scripts/release` builds with them.
let fortified: [CSetting] = [.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))]

/// A C library of the system, with the names of its packages in Debian.
func system(_ name: String, path: String? = nil, pkgConfig: String? = nil, apt: String? = nil) -> Target {
  .systemLibrary(
    name: name, path: path, pkgConfig: pkgConfig,
    providers: apt.map { [.apt($0.split(whereSeparator: \.isWhitespace).map(String.init))] })
}

/// C of our own.
func cTarget(_ name: String, _ names: String = "", exclude: [String] = []) -> Target {
  .target(name: name, dependencies: dependencies(names), exclude: exclude, cSettings: fortified)
}

/// Swift in which every unsafe construct is marked.
func safe(
  _ name: String, _ names: String = "", also: [Target.Dependency] = [], resources: [Resource] = []
) -> Target {
  .target(name: name, dependencies: dependencies(names) + also, resources: resources, swiftSettings: safely)
}

/// Swift of targets that mostly call a C library.
func plain(_ name: String, _ names: String) -> Target {
  .target(name: name, dependencies: dependencies(names), swiftSettings: strict)
}

/// The fuzzers of some targets, which the unit tests run over the kept inputs too.
func fuzzBody(_ name: String, _ names: String) -> Target {
  .target(name: name, dependencies: dependencies(names), path: "Fuzz/Sources/\(name)", swiftSettings: strict)
}

/// Parts that several test targets need.
func kit(_ name: String, _ names: String = "") -> Target {
  .target(name: name, dependencies: dependencies(names), path: "Tests/\(name)", swiftSettings: strict)
}

/// A program that tests start.
func probe(_ name: String, _ names: String) -> Target {
  .executableTarget(name: name, dependencies: dependencies(names), path: "Tests/\(name)", swiftSettings: strict)
}

/// Tests. Any of them may declare the features that it proves.
func tests(_ name: String, _ names: String, exclude: [String] = []) -> Target {
  .testTarget(name: name, dependencies: dependencies(names + " FeatureKit"), exclude: exclude, swiftSettings: strict)
}

/// The packages whose products the targets use.
let packages = [
  "ArgumentParser": "swift-argument-parser", "Logging": "swift-log", "NIOCore": "swift-nio", "NIOHTTP1": "swift-nio",
  "NIOPosix": "swift-nio", "NIOWebSocket": "swift-nio",
]

/// Targets and products by their names, which spaces separate.
func dependencies(_ names: String) -> [Target.Dependency] {
  names.split(whereSeparator: \.isWhitespace).map { name in
    let name = String(name)
    return packages[name].map { .product(name: name, package: $0) } ?? .byName(name: name)
  }
}

let package = Package(
  name: "rtcast",
  products: [
    .executable(name: "rtcast", targets: ["rtcast-main"]),
    // What applications import, and beside it the sources and windows that they pick.
    .library(name: "RTCast", targets: ["RTCast"]),
    .library(name: "RTCCapture", targets: ["RTCCapture"]),
    .library(name: "RTCCaptureX11", targets: ["RTCCaptureX11"]),
    .library(name: "RTCCaptureWayland", targets: ["RTCCaptureWayland"]),
    .library(name: "RTCCapturePortal", targets: ["RTCCapturePortal"]),
    .library(name: "RTCCaptureCamera", targets: ["RTCCaptureCamera"]),
    .library(name: "RTCCaptureFile", targets: ["RTCCaptureFile"]),
    .library(name: "RTCCapturePlugin", targets: ["RTCCapturePlugin"]),
    .library(name: "RTCAudio", targets: ["RTCAudio"]),
    .library(name: "RTCWindow", targets: ["RTCWindow"]),
  ],
  traits: [
    .trait(
      name: "X264",
      description: "H.264 is encoded, by libx264, which is under the GPL, version 2 or later: what is built so is too."),
    .default(enabledTraits: ["X264"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    // C libraries: module maps and shims, each used by one owner.
    system("CLinux"),
    system("CRTCastPlugin"),
    // Compiled with FFmpeg's headers, linked with none of its libraries: the first use loads them.
    cTarget("CFFmpeg"),
    // Likewise libwayland-client. `scripts/wayland-protocols` generates the code in `protocol`.
    cTarget(
      "CWayland",
      exclude: [
        "protocol/ext-foreign-toplevel-list-v1.xml", "protocol/ext-image-capture-source-v1.xml",
        "protocol/ext-image-copy-capture-v1.xml", "protocol/wlr-screencopy-unstable-v1.xml",
      ]),
    // And libpipewire-0.3, with libspa's headers, and libsystemd.
    system("CSPA", pkgConfig: "libspa-0.2", apt: "libspa-0.2-dev"),
    cTarget("CPipeWire", "CSPA"),
    cTarget("CSystemdBus"),
    system("CAOM", pkgConfig: "aom", apt: "libaom-dev"),
    system("COpus", pkgConfig: "opus", apt: "libopus-dev"),
    system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
    system("CPulse", apt: "libpulse-dev"),
    system("CQREncode", pkgConfig: "libqrencode", apt: "libqrencode-dev"),
    system("CSDL2", apt: "libsdl2-dev"),
    system("CSpeexDSP", pkgConfig: "speexdsp", apt: "libspeexdsp-dev"),
    // Linked statically, and so without pkg-config: libvpx takes its memory by CVPXMemory.
    system("CVPX", apt: "libvpx-dev"),
    cTarget("CVPXMemory"),
    system(
      "CX11", pkgConfig: "xcb-damage",
      apt: """
        libxcb1-dev libxcb-shm0-dev libxcb-damage0-dev libxcb-xfixes0-dev libxcb-randr0-dev libxcb-composite0-dev
        libxcb-xinput-dev
        """),
    system("CWebP", pkgConfig: "libwebp", apt: "libwebp-dev"),
    // Without pkg-config, which would warn of its absence where the trait is off.
    system("CX264", apt: "libx264-dev"),
    system("CYUV", apt: "libyuv-dev"),
    system("CZlib", apt: "zlib1g-dev"),

    // Values, wire formats and media contracts.
    safe("RTCPrimitives"),
    safe("RTCMedia", "RTCPrimitives CLinux"),
    safe("RTCWire", "RTCPrimitives"),

    // The peer connection, sans-IO.
    safe("RTCICE", "RTCPrimitives RTCWire"),
    // The other side of it: a TURN server, sans-IO.
    safe("RTCTURN", "RTCPrimitives RTCWire RTCICE"),
    safe("RTCDTLS", "RTCPrimitives COpenSSL"),
    safe("RTCSRTP", "RTCPrimitives COpenSSL"),
    safe("RTCSCTP", "RTCPrimitives RTCWire"),
    safe("RTCEngine", "RTCPrimitives RTCWire RTCMedia RTCICE RTCDTLS RTCSRTP RTCSCTP"),

    // From packets to sound, with any decoder.
    safe("RTCPlayout", "RTCPrimitives RTCWire RTCMedia RTCEngine RTCNet"),

    // Sockets, clocks and the public peer connection.
    safe("RTCNet", "RTCPrimitives CLinux"),
    safe("RTCPeer", "RTCPrimitives RTCWire RTCMedia RTCICE RTCDTLS RTCSCTP RTCEngine RTCNet RTCPlayout CLinux"),

    // Capturers.
    safe("RTCCapture", "RTCPrimitives RTCMedia RTCWire RTCNet CLinux"),
    plain("RTCCaptureX11", "RTCPrimitives RTCMedia RTCNet RTCCapture CLinux CX11"),
    plain("RTCCaptureWayland", "RTCPrimitives RTCMedia RTCNet RTCCapture CLinux CWayland"),
    plain("RTCCapturePortal", "RTCPrimitives RTCMedia RTCNet RTCCapture CPipeWire CSystemdBus"),

    plain(
      "RTCCaptureFile", "RTCPrimitives RTCMedia RTCWire RTCNet RTCCapture RTCCodecFFmpeg RTCIsolation CFFmpeg CLinux"),

    // Processes of our own that plugins and decoders run in.
    safe("RTCIsolation", "RTCPrimitives RTCMedia RTCNet CLinux"),
    safe("RTCCapturePlugin", "RTCPrimitives RTCMedia RTCNet RTCCapture RTCIsolation CLinux CRTCastPlugin"),
    plain("RTCAudio", "RTCMedia RTCPrimitives RTCNet CPulse"),

    plain("RTCCaptureCamera", "RTCPrimitives RTCWire RTCMedia RTCNet RTCCapture RTCCodecFFmpeg RTCConvert CLinux"),

    // What received video is shown in.
    plain("RTCWindow", "RTCMedia RTCConvert RTCNet RTCPrimitives CSDL2"),

    // Codecs and colour.
    // Decoders of what comes over the network and out of files. FFmpeg's containers are RTCCaptureFile's.
    plain("RTCCodecFFmpeg", "RTCWire RTCMedia CFFmpeg"),
    safe("RTCConvert", "RTCMedia CYUV"),
    // The policy of all encoders: which parts of a picture are coded when, and how finely.
    safe("RTCVideoCoding", "RTCMedia RTCPrimitives"),
    safe("RTCCodecAOM", "RTCVideoCoding RTCMedia RTCWire CAOM"),
    // Empty without the trait X264.
    safe("RTCCodecX264", "RTCVideoCoding RTCMedia", also: [.target(name: "CX264", condition: .when(traits: ["X264"]))]),
    safe("RTCCodecVPX", "RTCConvert RTCMedia RTCPrimitives RTCVideoCoding CVPX CVPXMemory"),
    safe("RTCCodecWebP", "RTCMedia RTCPrimitives CWebP"),
    // The features of the viewer page, sans-IO.
    safe("RTCPage", "RTCMedia RTCPrimitives"),
    plain("RTCResample", "RTCMedia RTCPrimitives CSpeexDSP"),
    safe("RTCCodecOpus", "RTCMedia RTCWire COpus"),

    // Signaling.
    safe("RTCSignaling", "RTCPrimitives RTCWire RTCDTLS RTCTURN"),
    safe(
      "RTCSignalingNIO",
      "CZlib RTCPrimitives RTCDTLS RTCNet RTCSignaling RTCTURN NIOCore NIOPosix NIOHTTP1 NIOWebSocket Logging",
      resources: [
        .embedInCode("Resources/viewer.html"), .embedInCode("Resources/viewer/exact.js"),
        .embedInCode("Resources/viewer/cursor.js"), .embedInCode("Resources/viewer/source.js"),
      ]
        + ["hub.html", "hub.css", "line.js", "media.js", "call.js", "board.js", "tiles.js", "sounds.js", "page.js"]
        .map { .embedInCode("Resources/hub/\($0)") }
        + ["wall", "pick"].flatMap { page in
          ["html", "css", "js"].map { .embedInCode("Resources/\(page)/\(page).\($0)") }
        }),

    // Names and rooms that several hubs share by Redis.
    safe("RTCCluster", "RTCPrimitives RTCDTLS RTCSignaling RTCSignalingNIO NIOCore NIOPosix"),

    // What an application imports, and the program.
    safe(
      "RTCast",
      """
      RTCPrimitives RTCWire RTCMedia RTCConvert RTCResample RTCCodecAOM RTCCodecFFmpeg RTCCodecX264 RTCCodecVPX
      RTCCodecOpus RTCCodecWebP RTCEngine RTCICE RTCIsolation RTCNet RTCPage RTCPeer RTCPlayout RTCSCTP RTCSignaling
      RTCSignalingNIO
      """),
    plain(
      "rtcast-cli",
      """
      CPaths CQREncode CRTCastRun RTCPrimitives RTCMedia RTCAudio RTCCapture RTCCaptureCamera RTCCaptureFile RTCICE
      RTCCapturePlugin RTCCapturePortal RTCCaptureWayland RTCCaptureX11 RTCCodecFFmpeg RTCDTLS RTCEngine RTCIsolation
      RTCNet RTCPeer RTCSCTP RTCSignaling RTCSignalingNIO RTCCluster RTCWindow RTCast ArgumentParser Logging
      """),

    cTarget("CRTCastProgram"),
    cTarget("CPaths"),
    cTarget("CRTCastRun"),
    // Without what only debuggers want, which is more than half of it.
    .executableTarget(
      name: "rtcast-main", dependencies: ["rtcast-cli", "CRTCastProgram"], swiftSettings: safely,
      linkerSettings: [.unsafeFlags(["-Xlinker", "--strip-debug"], .when(configuration: .release))]),

    // Tests.
    safe("RTCTestKit", "RTCPrimitives RTCWire RTCMedia RTCICE RTCDTLS RTCSCTP RTCEngine"),
    // What fuzzers run: the unit tests replay kept inputs over it.
    fuzzBody(
      "FuzzBodies", "RTCCapture RTCCaptureFile RTCEngine RTCMedia RTCNet RTCPage RTCPlayout RTCPrimitives RTCWire"),
    fuzzBody("FuzzVideoBody", "RTCEngine RTCMedia RTCPrimitives"),
    fuzzBody("FuzzSCTPBody", "RTCPrimitives RTCSCTP RTCWire"),
    fuzzBody("FuzzSRTPBody", "RTCPrimitives RTCSRTP"),
    // By themselves likewise: whole agents and peers, on virtual time.
    fuzzBody(
      "FuzzPeerBodies", "RTCDTLS RTCEngine RTCICE RTCMedia RTCPrimitives RTCSCTP RTCSRTP RTCTestKit RTCTURN RTCWire"),
    // What servers, clients and the program read that others wrote.
    fuzzBody(
      "FuzzServerBodies",
      "RTCCluster RTCPeer RTCPrimitives RTCSignaling RTCSignalingNIO NIOCore NIOHTTP1 NIOWebSocket"),
    fuzzBody(
      "FuzzProgramBodies",
      "RTCCaptureFile RTCCapturePlugin RTCCaptureX11 RTCIsolation RTCMedia RTCPrimitives RTCast rtcast-cli"),
    // The table of all of them.
    fuzzBody(
      "FuzzTargets",
      "FuzzBodies FuzzPeerBodies FuzzProgramBodies FuzzSCTPBody FuzzServerBodies FuzzSRTPBody FuzzVideoBody"),
    tests("FuzzReplayTests", "FuzzTargets RTCPrimitives"),
    kit("FeatureKit"),
    kit("SDPKit"),
    tests("RTCPrimitivesTests", "RTCMedia RTCPrimitives"),
    tests("RTCMediaTests", "RTCMedia RTCPrimitives CLinux"),
    tests("RTCWireTests", "RTCWire RTCPrimitives SDPKit"),
    tests("RTCICETests", "RTCICE RTCWire RTCPrimitives RTCTestKit"),
    tests("RTCTURNTests", "RTCTURN RTCWire RTCPrimitives"),
    tests("RTCDTLSTests", "RTCDTLS RTCPrimitives"),
    // libsrtp2, which others have, to test ours against and measure it beside.
    system("CSRTP", path: "Tests/CSRTP", pkgConfig: "libsrtp2", apt: "libsrtp2-dev"),
    kit("LibSRTPKit", "CSRTP RTCPrimitives"),
    tests("RTCSRTPTests", "RTCSRTP RTCPrimitives LibSRTPKit"),
    // usrsctp, Firefox's SCTP, as a peer to test ours against. Its clock, random numbers and state are taken in hand there.
    .target(name: "CUsrsctp", path: "Tests/CUsrsctp", linkerSettings: [.linkedLibrary("usrsctp")]),
    kit("UsrsctpKit", "CUsrsctp RTCPrimitives"),
    tests("RTCSCTPTests", "RTCSCTP RTCWire RTCPrimitives RTCTestKit FuzzSCTPBody UsrsctpKit"),
    tests(
      "RTCEngineTests", "RTCSRTP RTCEngine RTCTestKit RTCICE RTCDTLS RTCSCTP RTCMedia RTCWire RTCPrimitives SDPKit"),
    tests("RTCPlayoutTests", "RTCPlayout RTCEngine RTCCodecOpus RTCCodecVPX RTCMedia RTCNet RTCWire RTCPrimitives"),
    tests("RTCPeerTests", "RTCPeer RTCEngine RTCNet RTCSCTP RTCMedia RTCTestKit RTCPrimitives ProcessKit"),
    probe("DataChannelProbe", "RTCPeer RTCEngine RTCSCTP"),
    probe("CallProbe", "RTCast RTCCapture"),
    probe("InteropPeer", "RTCPeer RTCEngine RTCSCTP"),
    tests("RTCTestKitTests", "RTCTestKit RTCPrimitives"),
    tests("RTCNetTests", "RTCNet RTCPrimitives"),
    tests("RTCCaptureTests", "RTCPrimitives RTCMedia RTCNet RTCCapture RTCTestKit ProcessKit"),
    tests(
      "RTCCaptureFileTests",
      """
      RTCCapture RTCCaptureFile RTCCodecFFmpeg RTCCodecVPX RTCIsolation RTCMedia RTCPrimitives PluginHostProbe
      ProcessKit CFFmpeg
      """),
    kit("ProcessKit", "RTCNet CLinux"),
    tests("ProcessKitTests", "ProcessKit"),
    kit("XvfbKit", "ProcessKit RTCMedia CX11"),
    tests("RTCCaptureX11Tests", "RTCMedia RTCNet RTCCapture RTCCaptureX11 RTCTestKit XvfbKit ProcessKit"),
    tests("RTCCaptureCameraTests", "RTCCaptureCamera RTCMedia RTCPrimitives RTCTestKit"),
    tests("RTCWindowTests", "RTCWindow RTCMedia RTCPrimitives RTCCaptureX11 RTCTestKit XvfbKit"),
    probe("PluginHostProbe", "RTCCaptureFile RTCCapturePlugin RTCIsolation RTCMedia RTCNet RTCast CLinux"),
    tests(
      "RTCIsolationTests",
      """
      CodingKit PluginHostProbe ProcessKit RTCCodecAOM RTCCodecOpus RTCCodecVPX RTCCodecX264 RTCIsolation RTCMedia
      RTCNet RTCPrimitives RTCast CLinux
      """),
    tests(
      "RTCCapturePluginTests",
      "RTCCapturePlugin RTCIsolation PluginHostProbe RTCMedia RTCPrimitives ProcessKit CLinux", exclude: ["Plugins"]),
    tests("RTCAudioTests", "RTCAudio RTCMedia RTCPrimitives ProcessKit"),
    tests("RTCResampleTests", "RTCResample RTCMedia RTCPrimitives"),
    tests("RTCConvertTests", "RTCConvert RTCMedia RTCPrimitives"),
    // An encoder, a decoder and a page to show, for the tests of what RTCVideoCoding encodes.
    kit("CodingKit", "RTCVideoCoding RTCCodecFFmpeg RTCMedia RTCPrimitives"),
    tests("RTCCodecAOMTests", "CodingKit RTCCodecAOM RTCMedia RTCPrimitives RTCWire"),
    tests("RTCCodecX264Tests", "CodingKit RTCCodecX264 RTCMedia RTCPrimitives RTCWire"),
    tests("RTCCodecVPXTests", "RTCCodecVPX RTCMedia RTCPrimitives"),
    tests("RTCVideoCodingTests", "CodingKit RTCMedia RTCPrimitives RTCVideoCoding"),
    // Our decoders and payload formats, held to the reference encoders' and decoders' own tools.
    tests("ConformanceTests", "RTCEngine RTCCodecFFmpeg RTCCodecVPX RTCWire RTCMedia RTCPrimitives ProcessKit"),
    tests("RTCCodecOpusTests", "RTCCodecOpus RTCWire RTCMedia"),
    tests("RTCCodecWebPTests", "RTCCodecWebP RTCMedia RTCPrimitives CWebP"),
    tests("RTCPageTests", "RTCPage RTCMedia RTCPrimitives"),
    tests("RTCSignalingTests", "RTCSignaling RTCPrimitives"),
    tests(
      "RTCSignalingNIOTests",
      "RTCPrimitives RTCDTLS RTCSignaling RTCSignalingNIO NIOCore NIOPosix NIOHTTP1 NIOWebSocket Logging"),
    tests("RTCClusterTests", "RTCCluster RTCDTLS RTCPrimitives RTCSignaling ProcessKit"),
    probe("WebSocketProbe", "RTCSignaling RTCSignalingNIO NIOCore NIOPosix NIOHTTP1 NIOWebSocket"),
    tests(
      "RTCastTests",
      """
      RTCast CodingKit RTCCapture RTCCodecVPX RTCCodecOpus RTCEngine RTCPage RTCSCTP RTCVideoCoding RTCWire RTCMedia
      RTCNet RTCPeer RTCPrimitives RTCSignaling RTCSignalingNIO RTCTestKit ProcessKit Logging
      """),
    tests(
      "RTCastCLITests",
      "RTCPrimitives rtcast-cli RTCMedia RTCEngine RTCNet RTCPeer RTCSignaling RTCast ArgumentParser"),
  ]
)

// What stands beside the product and looks behind what it shows to others; built on request, since nobody else wants it.

/// The program of all fuzzers, linked with libFuzzer. Our own targets are compiled with its instrumentation, the product's
/// also with a call at every edge, by which `CFuzzCost` counts steps. Encoders are not, as nobody else's bytes reach them.
if Context.environment["RTCAST_FUZZ"] != nil {
  let encoders = [
    "RTCVideoCoding", "RTCCodecAOM", "RTCCodecOpus", "RTCCodecVPX", "RTCCodecWebP", "RTCCodecX264", "RTCConvert",
    "RTCResample",
  ]
  for target in package.targets where target.type == .regular && !encoders.contains(target.name) {
    let isBody = target.name.hasPrefix("Fuzz")
    guard isBody || target.name.lowercased().hasPrefix("rtc") else { continue }
    let steps = isBody || target.name == "RTCTestKit" ? [] : ["-Xllvm", "-sanitizer-coverage-trace-pc"]
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-sanitize=fuzzer"] + steps)]
  }
  package.targets += [
    .systemLibrary(name: "CLibFuzzer", path: "Fuzz/Sources/CLibFuzzer"),
    .target(name: "CFuzzCost", path: "Fuzz/Sources/CFuzzCost"),
    .executableTarget(
      name: "Fuzz", dependencies: ["CFuzzCost", "CLibFuzzer", "FuzzTargets"], path: "Fuzz/Sources/Fuzz",
      swiftSettings: strict,
      linkerSettings: [
        .unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld", "-Xlinker", "--wrap=__sanitizer_cov_trace_pc"])
      ]),
  ]
}

/// Measurements, run by hand and before a release.
func benchmark(_ name: String, _ names: String) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies(names), path: "Benchmarks/Sources/\(name)",
    swiftSettings: [.swiftLanguageMode(.v6), .enableExperimentalFeature("Lifetimes")])
}

if Context.environment["RTCAST_BENCHMARKS"] != nil {
  package.targets += [
    // Counts calls of malloc and its kin; must be linked into the executable that is measured.
    .target(name: "CAllocationCount", path: "Benchmarks/Sources/CAllocationCount"),
    .target(
      name: "Metering", dependencies: ["CAllocationCount"], path: "Benchmarks/Sources/Metering",
      swiftSettings: [.swiftLanguageMode(.v6)]),
    benchmark("SendPathBenchmark", "Metering RTCEngine RTCMedia RTCNet RTCPrimitives RTCSRTP RTCTestKit"),
    benchmark("ReceivePathBenchmark", "Metering RTCEngine RTCMedia RTCPrimitives RTCSRTP RTCTestKit RTCWire"),
    benchmark("SRTPBenchmark", "LibSRTPKit Metering RTCPrimitives RTCSRTP"),
    benchmark("DescriptionBenchmark", "RTCDTLS RTCEngine RTCPrimitives RTCSCTP RTCWire"),
    benchmark("Congestion", "RTCPrimitives RTCTestKit"),
    benchmark("DataChannelBenchmark", "RTCEngine RTCPeer RTCSCTP"),
    benchmark("ViewersBenchmark", "RTCEngine RTCMedia RTCNet RTCPeer RTCPrimitives RTCSignaling RTCSignalingNIO"),
    benchmark("SoundBenchmark", "RTCAudio RTCCodecOpus RTCEngine RTCMedia RTCNet RTCPlayout RTCPrimitives"),
    benchmark("EncoderBenchmark", "RTCast RTCCodecAOM RTCCodecFFmpeg RTCCodecVPX RTCCodecX264 RTCMedia RTCPrimitives"),
    benchmark("DecoderBenchmark", "RTCast RTCCodecAOM RTCCodecVPX RTCCodecX264 RTCIsolation RTCMedia RTCPrimitives"),
    benchmark("PictureBenchmark", "RTCCapture RTCCodecVPX RTCConvert RTCMedia RTCPage RTCPrimitives"),
  ]
}
